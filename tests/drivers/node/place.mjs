// Where the server is, and a database of its own for every test file.

import { MongoClient } from 'mongodb';

export const URI = process.env.FREEBOARD_URI ?? 'mongodb://127.0.0.1:27017/';

/** URI with a database and options. */
export function uri(database = '', options = {}) {
  const url = new URL(URI);
  url.pathname = `/${database}`;
  for (const [name, value] of Object.entries(options)) url.searchParams.set(name, value);
  return url.toString();
}

/** Connects, hands the client and an empty database to `body`, and cleans up. */
export async function withDatabase(name, body, options = {}) {
  const client = new MongoClient(uri('', options), { serverSelectionTimeoutMS: 5000 });
  try {
    await client.connect();
    const database = client.db(name);
    await database.dropDatabase();
    await body(database, client);
    await database.dropDatabase();
  } finally {
    await client.close();
  }
}
