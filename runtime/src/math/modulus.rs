//! Arithmetic modulo one word-sized prime.
//!
//! A [`Modulus`] is q with its reduction constants; residues are plain `u64` in [0, q) unless a function says otherwise.
//! Products by a constant that is used many times go through [`Shoup`] (one high product, one conditional
//! subtraction), all others through Barrett reduction. No division is made outside the constructors.
//!
//! References: Barrett (CRYPTO 1986); Harvey, "Faster arithmetic for number-theoretic transforms" (2014), section 3,
//! for the quotient attributed to Shoup.

/// Moduli are below 2^61, so that sums of eight residues and lazy values below 4q fit in a word.
pub const MAX_MODULUS_BITS: u32 = 61;

/// An odd modulus 2 < q < 2^61 and the constants of its reductions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Modulus {
    q: u64,
    /// floor(2^(k+62) / q), where k is the bit length of q
    barrett: u64,
    /// k - 2
    shift: u32,
    /// floor(2^64 / q)
    word_quotient: u64,
    /// 2^64 mod q, prepared
    word: Shoup,
}

/// A constant w < q prepared for products modulo q: w and floor(w 2^64 / q).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shoup {
    /// the constant, in [0, q)
    pub value: u64,
    quotient: u64,
}

impl Modulus {
    /// Constants for `q`; `None` unless q is odd and 2 < q < 2^61.
    pub fn new(q: u64) -> Option<Modulus> {
        if q < 3 || q.is_multiple_of(2) || q >> MAX_MODULUS_BITS != 0 {
            return None;
        }
        let bits = 64 - q.leading_zeros();
        let word = ((1u128 << 64) % u128::from(q)) as u64;
        Some(Modulus {
            q,
            barrett: ((1u128 << (bits + 62)) / u128::from(q)) as u64,
            shift: bits - 2,
            word_quotient: ((1u128 << 64) / u128::from(q)) as u64,
            word: prepare(word, q),
        })
    }

    /// The modulus q.
    #[inline(always)]
    pub fn value(&self) -> u64 {
        self.q
    }

    /// Bit length of q.
    pub fn bits(&self) -> u32 {
        self.shift + 2
    }

    /// a in [0, 2q) -> a mod q.
    #[inline(always)]
    pub fn reduce_once(&self, a: u64) -> u64 {
        reduce_below(a, self.q)
    }

    /// a in [0, 4q) -> a mod q.
    #[inline(always)]
    pub fn reduce_twice(&self, a: u64) -> u64 {
        reduce_below(reduce_below(a, 2 * self.q), self.q)
    }

    /// Any word -> its residue.
    #[inline(always)]
    pub fn reduce(&self, a: u64) -> u64 {
        self.reduce_once(self.reduce_word_lazy(a))
    }

    /// Any 128-bit number -> its residue.
    #[inline(always)]
    pub fn reduce_wide(&self, a: u128) -> u64 {
        let high = self.mul_shoup_lazy((a >> 64) as u64, self.word);
        self.reduce_twice(high + self.reduce_word_lazy(a as u64))
    }

    /// Any signed number -> its residue, without a branch on its sign.
    #[inline(always)]
    pub fn reduce_signed(&self, a: i64) -> u64 {
        let magnitude = self.reduce(a.unsigned_abs());
        let negative = (a >> 63) as u64;
        magnitude ^ ((magnitude ^ self.neg(magnitude)) & negative)
    }

    /// Any signed 128-bit number -> its residue.
    pub fn reduce_signed_wide(&self, a: i128) -> u64 {
        let magnitude = self.reduce_wide(a.unsigned_abs());
        if a < 0 { self.neg(magnitude) } else { magnitude }
    }

    /// Residue -> its representative in (-q/2, q/2).
    #[inline(always)]
    pub fn center(&self, a: u64) -> i64 {
        if a > self.q / 2 { a as i64 - self.q as i64 } else { a as i64 }
    }

    /// a + b mod q.
    #[inline(always)]
    pub fn add(&self, a: u64, b: u64) -> u64 {
        self.reduce_once(a + b)
    }

    /// a - b mod q.
    #[inline(always)]
    pub fn sub(&self, a: u64, b: u64) -> u64 {
        self.reduce_once(a + self.q - b)
    }

    /// -a mod q.
    #[inline(always)]
    pub fn neg(&self, a: u64) -> u64 {
        self.reduce_once(self.q - a)
    }

    /// a b mod q, for a b < 2^(2k) with k the bit length of q (residues always satisfy it).
    #[inline(always)]
    pub fn mul(&self, a: u64, b: u64) -> u64 {
        // With x = a b, the estimate of x / q is off by less than 1/2 (dropped bits of x) + 1/2 (dropped bits of the
        // constant) + 1 (floor): the remainder is below 2q.
        let x = u128::from(a) * u128::from(b);
        let estimate = high_word((x >> self.shift) as u64, self.barrett);
        self.reduce_once((x as u64).wrapping_sub(estimate.wrapping_mul(self.q)))
    }

    /// Prepares the constant w (any word) for [`Modulus::mul_shoup`].
    pub fn shoup(&self, w: u64) -> Shoup {
        prepare(self.reduce(w), self.q)
    }

    /// Any word a times the constant w, mod q.
    #[inline(always)]
    pub fn mul_shoup(&self, a: u64, w: Shoup) -> u64 {
        self.reduce_once(self.mul_shoup_lazy(a, w))
    }

    /// Any word a times the constant w, as a number congruent mod q in [0, 2q).
    #[inline(always)]
    pub fn mul_shoup_lazy(&self, a: u64, w: Shoup) -> u64 {
        let estimate = high_word(a, w.quotient);
        a.wrapping_mul(w.value).wrapping_sub(estimate.wrapping_mul(self.q))
    }

    /// a^e mod q.
    pub fn pow(&self, a: u64, mut e: u64) -> u64 {
        let (mut base, mut result) = (self.reduce(a), 1);
        while e > 0 {
            if e & 1 == 1 {
                result = self.mul(result, base);
            }
            base = self.mul(base, base);
            e >>= 1;
        }
        result
    }

    /// The inverse of a modulo the prime q, by Fermat; 0 for a = 0 mod q.
    pub fn inv(&self, a: u64) -> u64 {
        self.pow(a, self.q - 2)
    }

    #[inline(always)]
    fn reduce_word_lazy(&self, a: u64) -> u64 {
        a.wrapping_sub(high_word(a, self.word_quotient).wrapping_mul(self.q))
    }
}

/// a in [0, 2 bound) -> a or a - bound, in [0, bound), without a branch.
#[inline(always)]
pub(crate) fn reduce_below(a: u64, bound: u64) -> u64 {
    a.min(a.wrapping_sub(bound))
}

#[inline(always)]
fn high_word(a: u64, b: u64) -> u64 {
    ((u128::from(a) * u128::from(b)) >> 64) as u64
}

fn prepare(value: u64, q: u64) -> Shoup {
    Shoup { value, quotient: ((u128::from(value) << 64) / u128::from(q)) as u64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn modulus() -> impl Strategy<Value = Modulus> {
        (2u32..=60, any::<u64>()).prop_map(|(bits, x)| {
            let q = (1u64 << bits) | (x & ((1 << bits) - 1)) | 1;
            Modulus::new(q).expect("odd and in range")
        })
    }

    #[test]
    fn rejects_values_out_of_range() {
        for q in [0, 1, 2, 4, 1 << 60, 1 << 61, (1 << 61) + 1, u64::MAX] {
            assert!(Modulus::new(q).is_none(), "{q}");
        }
        assert!(Modulus::new((1 << 61) - 1).is_some());
    }

    proptest! {
        #[test]
        fn agrees_with_wide_division(m in modulus(), a: u64, b: u64, c: u128, s: i64) {
            let q = m.value();
            let (wide, signed) = (u128::from(q), i128::from(q));
            let (x, y) = (a % q, b % q);
            prop_assert_eq!(m.reduce(a), x);
            prop_assert_eq!(u128::from(m.reduce_wide(c)), c % wide);
            prop_assert_eq!(i128::from(m.reduce_signed(s)), i128::from(s).rem_euclid(signed));
            prop_assert_eq!(i128::from(m.reduce_signed_wide(c as i128)), (c as i128).rem_euclid(signed));
            prop_assert_eq!(u128::from(m.add(x, y)), (u128::from(x) + u128::from(y)) % wide);
            prop_assert_eq!(m.add(m.sub(x, y), y), x);
            prop_assert_eq!(m.add(m.neg(x), x), 0);
            prop_assert_eq!(u128::from(m.mul(x, y)), u128::from(x) * u128::from(y) % wide);
            prop_assert_eq!(m.mul_shoup(a, m.shoup(b)), m.mul(x, y));
            prop_assert_eq!(m.reduce_signed(m.center(x)), x);
        }

        #[test]
        fn largest_residues_multiply(m in modulus()) {
            let top = m.value() - 1;
            prop_assert_eq!(m.mul(top, top), 1);
            prop_assert_eq!(m.mul_shoup(u64::MAX, m.shoup(top)), m.neg(m.reduce(u64::MAX)));
        }
    }

    #[test]
    fn powers_and_inverses() {
        let m = Modulus::new((1 << 61) - 1).expect("Mersenne prime");
        assert_eq!(m.pow(2, 61), 1);
        for a in [1, 2, 3, 12345, m.value() - 1] {
            assert_eq!(m.mul(a, m.inv(a)), 1);
        }
    }
}
