use error::Result;

pub fn iso(millis: i64) -> Result<String> {
    let _ = millis;
    Ok(String::new())
}
