//! Trigonometry of decimals: computed with more than twice the digits of a decimal128, and
//! rounded as MongoDB does.

use crate::aggregate::expressions::decimal::{
    Wide, constant, exp as power, ln as log, narrow, through_binary, transcendental,
};
use dec::{Context, Decimal, Decimal128, Rounding};

/// Room for the whole turns of a large angle beside the digits of what is left of it.
type Angle = Decimal<30>;

const PI: &str = "3.14159265358979323846264338327950288419716939937510582097494459230781640628";

/// Below this the first terms of a series have all the digits, and the closed forms would
/// lose theirs to cancellation.
const SMALL: &str = "1E-12";
/// Terms smaller than this do not count.
const NEGLIGIBLE: &str = "1E-62";
/// From here on the hyperbolic tangent is one in every digit.
const FAR: i32 = 100;
/// Enough for the slowest series here; what converges stops before.
const TERMS_MAX: i32 = 200;

macro_rules! of_one {
    ($($name:ident = $function:expr;)*) => {
        $(pub fn $name(value: Decimal128) -> Decimal128 {
            through_binary(value, $function)
        })*
    };
}

of_one! {
    acos = |x| {
        if x == int(-1) { return constant(PI) }
        int(2) * arc_tangent(root((int(1) - x) * (int(1) + x)) / (int(1) + x))
    };
    acosh = |x: Wide| log(x + root((x - int(1)) * (x + int(1))));
    asin = arc_sine;
    asinh = |x| {
        if magnitude(x) < constant(SMALL) { return x - x * x * x / int(6) }
        let positive = magnitude(x);
        signed(log(positive + root(positive * positive + int(1))), x)
    };
    atan = arc_tangent;
    atanh = |x| {
        if magnitude(x) == int(1) { return signed(Wide::infinity(), x) }
        if magnitude(x) < constant(SMALL) { return x + x * x * x / int(3) }
        log((int(1) + x) / (int(1) - x)) / int(2)
    };
    cos = |x| circular(x).1;
    cosh = |x| (power(x) + power(-x)) / int(2);
    sin = |x| circular(x).0;
    sinh = hyperbolic_sine;
    tan = |x| {
        let (sine, cosine) = circular(x);
        sine / cosine
    };
    tanh = |x| {
        if magnitude(x) > int(FAR) { return signed(int(1), x) }
        hyperbolic_sine(x) / ((power(x) + power(-x)) / int(2))
    };
}

/// The angle of a point.
pub fn atan2(y: Decimal128, x: Decimal128) -> Decimal128 {
    let (y, x) = (Wide::from(y), Wide::from(x));
    if y.is_nan() || x.is_nan() {
        return Decimal128::NAN;
    }
    let pi = constant(PI);
    let angle = match (y.is_infinite(), x.is_infinite()) {
        (true, true) => pi / int(4),
        (true, false) => pi / int(2),
        (false, true) => int(0),
        _ if x.is_zero() && y.is_zero() => int(0),
        _ if x.is_zero() => pi / int(2),
        _ => arc_tangent(magnitude(y) / magnitude(x)),
    };
    let angle = if x.is_negative() { pi - angle } else { angle };
    through_binary(narrow(&signed(angle, y)), |angle| angle)
}

fn int(value: i32) -> Wide {
    Wide::from(value)
}

fn magnitude(value: Wide) -> Wide {
    if value.is_negative() { -value } else { value }
}

/// A value with the sign of another.
fn signed(value: Wide, like: Wide) -> Wide {
    if like.is_negative() { -value } else { value }
}

fn root(mut value: Wide) -> Wide {
    transcendental().sqrt(&mut value);
    value
}

fn hyperbolic_sine(x: Wide) -> Wide {
    if magnitude(x) < constant(SMALL) {
        return x + x * x * x / int(6);
    }
    (power(x) - power(-x)) / int(2)
}

fn arc_sine(x: Wide) -> Wide {
    if magnitude(x) == int(1) {
        return signed(constant(PI) / int(2), x);
    }
    arc_tangent(x / root((int(1) - x) * (int(1) + x)))
}

/// Halves the angle three times, so that the series ends soon.
fn arc_tangent(x: Wide) -> Wide {
    if x.is_infinite() {
        return signed(constant(PI) / int(2), x);
    }
    if x.is_zero() {
        return x;
    }
    if magnitude(x) > int(1) {
        return signed(constant(PI) / int(2) - arc_tangent(int(1) / magnitude(x)), x);
    }
    let mut small = x;
    for _ in 0..3 {
        small = small / (int(1) + root(int(1) + small * small));
    }
    let (square, negligible) = (small * small, constant(NEGLIGIBLE));
    let (mut sum, mut term) = (small, small);
    for step in 1..TERMS_MAX {
        term = -term * square;
        let addend = term / int(2 * step + 1);
        sum += addend;
        if magnitude(addend) < negligible * magnitude(sum) {
            break;
        }
    }
    sum * int(8)
}

/// Sine and cosine, of the angle less its quarter turns.
fn circular(x: Wide) -> (Wide, Wide) {
    if x.is_zero() {
        return (x, int(1));
    }
    let (angle, quadrant) = reduce(x);
    let (square, negligible) = (angle * angle, constant(NEGLIGIBLE));
    let (mut sine, mut cosine) = (angle, int(1));
    let (mut odd, mut even) = (angle, int(1));
    for step in 1..TERMS_MAX {
        even = -even * square / int((2 * step - 1) * (2 * step));
        odd = -odd * square / int(2 * step * (2 * step + 1));
        cosine += even;
        sine += odd;
        if magnitude(even) < negligible {
            break;
        }
    }
    match quadrant {
        0 => (sine, cosine),
        1 => (cosine, -sine),
        2 => (-sine, -cosine),
        _ => (-cosine, sine),
    }
}

/// An angle less its quarter turns, and how many of those are left of whole turns. Of an angle
/// whose turns have more digits than are computed with nothing is known but that.
fn reduce(x: Wide) -> (Wide, i32) {
    let mut context = Context::<Angle>::default();
    context.set_rounding(Rounding::HalfEven);
    let x = context.to_width(x);
    let quarter = PI.parse::<Angle>().unwrap_or_else(|_| Angle::nan()) / Angle::from(2);
    let mut turns = x / quarter;
    context.round(&mut turns);
    let angle = transcendental().to_width(x - turns * quarter);
    if magnitude(angle) > int(1) {
        return (int(0), 0);
    }
    let quadrant = i32::try_from(turns % Angle::from(4)).unwrap_or(0);
    (angle, quadrant.rem_euclid(4))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(function: fn(Decimal128) -> Decimal128, text: &str) -> String {
        function(text.parse().unwrap()).to_string()
    }

    #[test]
    fn all_digits_are_right() {
        assert_eq!(shown(sin, "1"), "0.8414709848078965066525023216302990");
        assert_eq!(shown(cos, "1"), "0.5403023058681397174009366074429766");
        assert_eq!(shown(tan, "1"), "1.557407724654902230506974807458360");
        assert_eq!(shown(asin, "0.5"), "0.5235987755982988730771072305465838");
        assert_eq!(shown(acos, "0.5"), "1.047197551196597746154214461093168");
        assert_eq!(shown(atan, "1"), "0.7853981633974483096156608458198757");
        assert_eq!(shown(sinh, "1"), "1.175201193643801456882381850595601");
        assert_eq!(shown(cosh, "1"), "1.543080634815243778477905620757062");
        assert_eq!(shown(tanh, "1"), "0.7615941559557648881194582826047936");
        assert_eq!(shown(asinh, "1"), "0.8813735870195430252326093249797923");
        assert_eq!(shown(acosh, "2"), "1.316957896924816708625046347307968");
        assert_eq!(shown(atanh, "0.5"), "0.5493061443340548456976226184612628");
        assert_eq!(shown(sin, "1E-20"), "1.000000000000000000000000000000000E-20");
    }

    #[test]
    fn the_largest_angles_have_a_sine() {
        for text in ["1E34", "1E90", "1234567E100", "3703701E3000", "-3703701E6000", "9E6144"] {
            for function in [sin, cos] {
                let value: Wide = shown(function, text).parse().unwrap();
                assert!(magnitude(value) <= int(1), "{text}: {value}");
            }
        }
    }

    #[test]
    fn ends_of_the_domains() {
        assert_eq!(shown(sin, "0"), "0");
        assert_eq!(shown(cos, "0"), "1");
        assert_eq!(shown(acos, "1"), "0");
        assert_eq!(shown(acos, "-1"), "3.141592653589793238462643383279503");
        assert_eq!(shown(atanh, "1"), "Infinity");
        assert_eq!(shown(atan, "-Infinity"), "-1.570796326794896619231321691639751");
        assert_eq!(shown(tanh, "1000"), "1");
        assert_eq!(shown(cos, "10"), "-0.8390715290764524522588639478240649");
    }
}
