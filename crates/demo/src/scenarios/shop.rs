//! A shop: products that carry all their reviews and a supplier's feed nobody reads, orders
//! of years ago beside today's, an index for every question anybody ever had but the one
//! on reviews.

use crate::dates::{DAY_MS, YEAR_MS, date, evenly};
use crate::hour::commands;
use crate::ids::Ids;
use crate::words::{city, email, person, postcode, sentence, street, text};
use crate::{Collection, Random, Recipe, Scenario};
use bson::{Document, RawArrayBuf, RawDocumentBuf, doc, rawdoc};

pub const SCENARIO: Scenario = Scenario {
    name: "shop",
    help: "Products that carry their reviews, orders of five years, too many indexes.",
    collections,
    queries,
};

/// One product in so many is popular.
const POPULAR_EVERY: u64 = 20;
const POPULAR_AT: u64 = 3;
const REVIEWS: (u64, u64) = (1, 90);
const REVIEWS_OF_POPULAR: (u64, u64) = (1_500, 10_000);
const SUPPLIER_FEED_BYTES: (u64, u64) = (4_000, 16_000);
const SPAN_MS: i64 = 5 * YEAR_MS;
/// Orders so old have come to their end.
const SETTLED_MS: i64 = 30 * DAY_MS;

const KINDS: &[(&str, &str, u64)] = &[
    ("Mountain-100", "bike", 3_000),
    ("Road-250", "bike", 2_000),
    ("Touring-1000", "bike", 1_500),
    ("Road Tire Tube", "component", 4),
    ("HL Headset", "component", 90),
    ("Sport Helmet", "clothing", 35),
];
const COLOURS: &[&str] = &["Silver", "Black", "Red", "Blue", "Yellow"];

/// How many of each there are.
#[derive(Clone, Copy)]
struct Stock {
    products: Ids,
    customers: Ids,
    orders: Ids,
    reviews: Ids,
}

impl Stock {
    fn new(recipe: &Recipe) -> Stock {
        let products = recipe.share(1, 10);
        let customers = recipe.share(1, 5);
        let reviews = recipe.share(3, 10);
        let orders = recipe.size.saturating_sub(products + customers + reviews).max(1);
        let ids = |name, count| Ids::new(recipe, name, SPAN_MS, count);
        Stock {
            products: ids("products", products),
            customers: ids("customers", customers),
            orders: ids("orders", orders),
            reviews: ids("reviews", reviews),
        }
    }
}

fn collections(recipe: &Recipe) -> Vec<Collection> {
    let stock = Stock::new(recipe);
    let recipe = *recipe;
    vec![
        Collection::new(&recipe, "products", stock.products.count, move |number, random| {
            product(&recipe, stock, number, random)
        })
        .with_indexes([doc! { "sku": 1 }, doc! { "category": 1, "price": 1 }]),
        Collection::new(&recipe, "customers", stock.customers.count, move |number, random| {
            customer(stock, number, random)
        })
        .with_indexes([doc! { "email": 1 }]),
        Collection::new(&recipe, "orders", stock.orders.count, move |number, random| {
            order(&recipe, stock, number, random)
        })
        .with_indexes([
            doc! { "customerId": 1 },
            doc! { "customerId": 1, "orderDate": -1 },
            doc! { "status": 1 },
            doc! { "status": 1, "orderDate": -1 },
            doc! { "orderDate": -1 },
            doc! { "couponCode": 1 },
            doc! { "shipping.postcode": 1 },
            doc! { "total": 1 },
        ]),
        Collection::new(&recipe, "reviews", stock.reviews.count, move |number, random| {
            review(stock, number, random)
        })
        .with_indexes([doc! { "createdAt": -1 }]),
    ]
}

/// Pages of products, their reviews and ratings, and orders with their customer.
fn queries(recipe: &Recipe) -> Vec<Document> {
    let Stock { products, customers, .. } = Stock::new(recipe);
    let product = |random: &mut Random| products.of(random.below(products.count));
    let pages = commands(recipe, "page", 60, |random| {
        let fields = doc! { "name": 1, "price": 1, "description": 1, "stock": 1 };
        doc! { "find": "products", "filter": { "_id": product(random) }, "projection": fields }
    });
    let reviews = commands(recipe, "reviews of", 60, |random| {
        let filter = doc! { "productId": product(random) };
        doc! { "find": "reviews", "filter": filter, "sort": { "helpful": -1 }, "limit": 10 }
    });
    let ratings = commands(recipe, "rating of", 60, |random| {
        let average =
            doc! { "_id": null, "count": { "$sum": 1 }, "average": { "$avg": "$rating" } };
        let pipeline =
            [doc! { "$match": { "productId": product(random) } }, doc! { "$group": average }];
        doc! { "aggregate": "reviews", "pipeline": pipeline, "cursor": {} }
    });
    let orders = commands(recipe, "orders of", 60, |random| {
        let lookup = doc! {
            "from": "customers", "localField": "customerId", "foreignField": "_id", "as": "customer",
        };
        let customer = customers.of(random.below(customers.count));
        let pipeline = [
            doc! { "$match": { "customerId": customer } },
            doc! { "$sort": { "orderDate": -1 } },
            doc! { "$limit": 20 },
            doc! { "$lookup": lookup },
        ];
        doc! { "aggregate": "orders", "pipeline": pipeline, "cursor": {} }
    });
    [pages, reviews, ratings, orders].concat()
}

fn product(recipe: &Recipe, stock: Stock, number: u64, random: &mut Random) -> RawDocumentBuf {
    let (kind, category, price) = KINDS[random.below(KINDS.len() as u64) as usize];
    let colour = random.pick(COLOURS);
    let size = random.between(38, 62);
    let popular = number % POPULAR_EVERY == POPULAR_AT.min(stock.products.count - 1);
    let (least, most) = if popular { REVIEWS_OF_POPULAR } else { REVIEWS };
    let reviews = random.skewed(least, most);
    let feed = random.between(SUPPLIER_FEED_BYTES.0, SUPPLIER_FEED_BYTES.1) as usize;
    rawdoc! {
        "_id": stock.products.of(number),
        "sku": format!("{}-{number:05}-{size}", &colour[..1]),
        "name": format!("{kind} {colour}, {size}"),
        "category": category,
        "price": random.money(price, price + price / 5),
        "stock": random.below(200) as i32,
        "description": text(random, 300),
        "supplierFeed": text(random, feed),
        "reviews": embedded_reviews(recipe, reviews, random),
    }
}

/// Reviews, the oldest first.
fn embedded_reviews(recipe: &Recipe, count: u64, random: &mut Random) -> RawArrayBuf {
    let mut reviews = RawArrayBuf::new();
    for number in 0..count {
        let words = random.between(3, 9);
        reviews.push(rawdoc! {
            "customerName": person(random),
            "rating": rating(random),
            "title": sentence(random, words),
            "helpful": random.skewed(1, 300) as i32,
            "createdAt": date(evenly(recipe, 2 * YEAR_MS, number, count)),
        });
    }
    reviews
}

/// Most people are content.
fn rating(random: &mut Random) -> i32 {
    match random.below(110) {
        0..6 => 1,
        6..15 => 2,
        15..29 => 3,
        29..73 => 4,
        _ => 5,
    }
}

fn customer(stock: Stock, number: u64, random: &mut Random) -> RawDocumentBuf {
    let name = person(random);
    rawdoc! {
        "_id": stock.customers.of(number),
        "name": name.as_str(),
        "email": email(&name, number),
        "address": { "street": street(random), "city": city(random), "postcode": postcode(random) },
        "joinedAt": date(stock.customers.moment(number)),
        "newsletter": random.percent(30),
    }
}

fn order(recipe: &Recipe, stock: Stock, number: u64, random: &mut Random) -> RawDocumentBuf {
    let ordered = stock.orders.moment(number);
    let settled = recipe.now.timestamp_millis() - ordered > SETTLED_MS;
    let status = if settled {
        random.weighted(&[(90, "delivered"), (6, "cancelled"), (4, "refunded")])
    } else {
        random.weighted(&[(50, "processing"), (40, "shipped"), (10, "delivered")])
    };
    let mut items = RawArrayBuf::new();
    let mut cents = 0;
    for _ in 0..random.skewed(1, 8) {
        let (quantity, price) = (random.skewed(1, 5), random.between(400, 400_000));
        cents += quantity * price;
        items.push(rawdoc! {
            "productId": stock.products.of(random.below(stock.products.count)),
            "quantity": quantity as i32,
            "price": price as f64 / 100.0,
        });
    }
    let mut order = rawdoc! {
        "_id": stock.orders.of(number),
        "orderNumber": format!("ORD-{number:08}"),
        "customerId": stock.customers.of(random.below(stock.customers.count)),
        "orderDate": date(ordered),
        "status": status,
        "lineItems": items,
        "total": cents as f64 / 100.0,
        "shipping": { "street": street(random), "city": city(random), "postcode": postcode(random) },
    };
    if random.percent(5) {
        let coupon = format!("SPRING{}", random.between(5, 25));
        order.append(bson::cstr!("couponCode"), coupon.as_str());
    }
    order
}

/// A review in a collection of its own, as newer parts of the shop write them.
fn review(stock: Stock, number: u64, random: &mut Random) -> RawDocumentBuf {
    // A few products get most of them.
    let product = random.skewed(1, stock.products.count) - 1;
    let words = random.between(3, 9);
    rawdoc! {
        "_id": stock.reviews.of(number),
        "productId": stock.products.of(product),
        "customerName": person(random),
        "rating": rating(random),
        "title": sentence(random, words),
        "helpful": random.skewed(1, 300) as i32,
        "createdAt": date(stock.reviews.moment(number)),
    }
}
