//! Names and texts.

use crate::Random;

const FIRST: &[&str] = &[
    "Ada", "Aisha", "Alan", "Anna", "Barbara", "Carlos", "Chen", "Dusan", "Eduarda", "Edsger",
    "Fatima", "Gitte", "Grace", "Haladhar", "Hedy", "Ines", "Jakob", "Joan", "Kenji", "Lars",
    "Leila", "Linus", "Mei", "Moina", "Nikhil", "Olga", "Pedro", "Radia", "Ravi", "Sofia", "Tim",
    "Yara",
];

const LAST: &[&str] = &[
    "Almeida", "Barot", "Berg", "Costa", "Dijkstra", "Fischer", "Garcia", "Haddad", "Hopper",
    "Ito", "Jensen", "Keot", "Kim", "Kowalski", "Lamarr", "Lovelace", "Martin", "Meyer", "Nguyen",
    "Novak", "Okafor", "Olsen", "Perlman", "Potongia", "Rossi", "Sato", "Silva", "Singh", "Sykora",
    "Turing", "Weber", "Yilmaz",
];

const WORDS: &[&str] = &[
    "after",
    "again",
    "always",
    "before",
    "better",
    "bike",
    "bright",
    "build",
    "city",
    "clear",
    "cold",
    "comfortable",
    "day",
    "dirt",
    "drive",
    "early",
    "easy",
    "every",
    "fast",
    "field",
    "first",
    "fit",
    "forest",
    "frame",
    "good",
    "great",
    "handles",
    "heavy",
    "hill",
    "home",
    "hour",
    "journey",
    "just",
    "kept",
    "kilometre",
    "late",
    "light",
    "little",
    "long",
    "market",
    "mile",
    "mixed",
    "morning",
    "mountain",
    "never",
    "new",
    "night",
    "often",
    "old",
    "packed",
    "pavement",
    "quiet",
    "rack",
    "rain",
    "ride",
    "river",
    "road",
    "rough",
    "route",
    "season",
    "short",
    "simple",
    "slow",
    "smooth",
    "solid",
    "station",
    "steady",
    "still",
    "street",
    "summer",
    "terrain",
    "today",
    "trail",
    "train",
    "turn",
    "value",
    "walk",
    "warm",
    "water",
    "weather",
    "week",
    "wind",
    "winter",
    "with",
    "worth",
    "year",
];

const STREETS: &[&str] =
    &["Bridge Street", "Canal Road", "Dyke Lane", "Harbour Way", "Lock Street", "Mill Road"];

const CITIES: &[&str] = &["Bergen", "Cádiz", "Delft", "Gdańsk", "Gothenburg", "Porto", "Zürich"];

const COMPANIES: &[&str] = &[
    "contoso",
    "fabrikam",
    "treyresearch",
    "northwind",
    "adatum",
    "litware",
    "proseware",
    "tailspin",
    "wingtip",
    "fourthcoffee",
    "lucerne",
    "margie",
    "relecloud",
    "vanarsdel",
    "wideworld",
    "woodgrove",
];

/// `Ada Lovelace`.
pub fn person(random: &mut Random) -> String {
    format!("{} {}", random.pick(FIRST), random.pick(LAST))
}

/// An address of that person that no other number has.
pub fn email(person: &str, number: u64) -> String {
    format!("{}{number}@example.com", person.to_lowercase().replace(' ', "."))
}

/// So many words, the first with a capital.
pub fn sentence(random: &mut Random, words: u64) -> String {
    let mut text = String::new();
    for number in 0..words {
        let word = random.pick(WORDS);
        if number == 0 {
            text.push_str(&word[..1].to_uppercase());
            text.push_str(&word[1..]);
        } else {
            text.push(' ');
            text.push_str(word);
        }
    }
    text
}

/// Sentences of at least so many bytes.
pub fn text(random: &mut Random, bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + 128);
    while text.len() < bytes {
        let words = random.between(6, 14);
        text.push_str(&sentence(random, words));
        text.push_str(". ");
    }
    text
}

pub fn street(random: &mut Random) -> String {
    format!("{} {}", random.pick(STREETS), random.between(1, 200))
}

pub fn city(random: &mut Random) -> &'static str {
    random.pick(CITIES)
}

pub fn postcode(random: &mut Random) -> String {
    format!("{:05}", random.below(100_000))
}

/// The name of company `number`, each another.
pub fn company(number: u64) -> String {
    let count = COMPANIES.len() as u64;
    let name = COMPANIES[(number % count) as usize];
    match number / count {
        0 => name.to_owned(),
        round => format!("{name}{}", round + 1),
    }
}
