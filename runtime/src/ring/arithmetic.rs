//! Operations on elements: transforms, sums and products by limb, automorphisms, and the way to and from integers.
//!
//! Operands of one operation have the same degree and number of limbs (an accumulator may have fewer than its addend);
//! products are taken between values. Breaking this is a bug of the caller and panics.

use crate::math::modulus::Modulus;
use crate::math::parallel;
use crate::math::products::Products;
use crate::ring::limb::LimbRing;
use crate::ring::{Form, Galois, Poly, Ring, ValueMap};

impl Ring {
    /// Zero with the first `limbs` primes.
    pub fn zero(&self, limbs: usize, form: Form) -> Poly {
        assert!(limbs <= self.primes(), "{limbs} limbs of {} primes", self.primes());
        Poly::zero(self.degree(), limbs, form)
    }

    /// A polynomial with the first `limbs` primes and any words, all to be written.
    pub(crate) fn dirty(&self, limbs: usize, form: Form) -> Poly {
        assert!(limbs <= self.primes(), "{limbs} limbs of {} primes", self.primes());
        Poly::dirty(self.degree(), limbs, form)
    }

    /// The element with the given integer coefficients `[t][x]`, modulo the first `limbs` primes, as values.
    pub fn lift(&self, coefficients: &[i64], limbs: usize) -> Poly {
        self.lift_with(coefficients, limbs, Modulus::reduce_signed)
    }

    /// As [`Ring::lift`], for coefficients that need more than a word.
    pub fn lift_wide(&self, coefficients: &[i128], limbs: usize) -> Poly {
        self.lift_with(coefficients, limbs, Modulus::reduce_signed_wide)
    }

    fn lift_with<T: Copy + Sync>(
        &self,
        coefficients: &[T],
        limbs: usize,
        reduce: impl Fn(&Modulus, T) -> u64 + Sync,
    ) -> Poly {
        assert_eq!(coefficients.len(), self.degree(), "one coefficient per basis element");
        let mut poly = self.dirty(limbs, Form::Evaluation);
        self.for_each_limb(&mut poly, |ring, _, limb| {
            for (x, &c) in limb.iter_mut().zip(coefficients) {
                *x = reduce(ring.modulus(), c);
            }
            ring.forward(limb);
        });
        poly
    }

    /// The coefficients `[t][x]` of an element as centred integers, from its first two limbs: exact when they are below
    /// q_0 q_1 / 2 (with a single limb, q_0 / 2) in absolute value.
    pub fn to_signed(&self, poly: &Poly) -> Vec<i128> {
        let mut low = poly.prefix(poly.limbs().min(2));
        self.intt(&mut low);
        let q0 = self.modulus(0);
        if low.limbs() < 2 {
            return low.words().iter().map(|&x| i128::from(q0.center(x))).collect();
        }
        let q1 = self.modulus(1);
        let inverse = q1.shoup(q1.inv(q1.reduce(q0.value())));
        let lift = |(&x, &y): (&u64, &u64)| {
            let small = q0.center(x);
            let quotient = q1.mul_shoup(q1.sub(y, q1.reduce_signed(small)), inverse);
            i128::from(small) + i128::from(q1.center(quotient)) * i128::from(q0.value())
        };
        low.limb(0).iter().zip(low.limb(1)).map(lift).collect()
    }

    /// To values; nothing to do if it holds values already.
    pub fn ntt(&self, a: &mut Poly) {
        if a.form() == Form::Coefficient {
            self.for_each_limb(a, |ring, _, limb| ring.forward(limb));
            a.set_form(Form::Evaluation);
        }
    }

    /// To coefficients; nothing to do if it holds coefficients already.
    pub fn intt(&self, a: &mut Poly) {
        if a.form() == Form::Evaluation {
            self.for_each_limb(a, |ring, _, limb| ring.inverse_scaled(limb, 1));
            a.set_form(Form::Coefficient);
        }
    }

    /// Values -> coefficients of one limb modulo prime number `i`, in place.
    pub fn intt_limb(&self, i: usize, limb: &mut [u64]) {
        self.intt_limb_scaled(i, limb, 1);
    }

    /// Values -> coefficients times the residue c of one limb modulo prime number `i`, in place.
    pub fn intt_limb_scaled(&self, i: usize, limb: &mut [u64], c: u64) {
        self.limbs[i].inverse_scaled(limb, c);
    }

    /// Coefficients -> values of one limb modulo prime number `i`, in place.
    pub fn ntt_limb(&self, i: usize, limb: &mut [u64]) {
        self.limbs[i].forward(limb);
    }

    /// a += b.
    pub fn add_assign(&self, a: &mut Poly, b: &Poly) {
        assert_operands(a, b);
        self.for_each_limb(a, |ring, i, limb| Products::new(ring.modulus()).add_assign(limb, b.limb(i)));
    }

    /// a -= b.
    pub fn sub_assign(&self, a: &mut Poly, b: &Poly) {
        assert_operands(a, b);
        self.for_each_limb(a, |ring, i, limb| Products::new(ring.modulus()).sub_assign(limb, b.limb(i)));
    }

    /// a *= b, both as values.
    pub fn mul_assign(&self, a: &mut Poly, b: &Poly) {
        assert_eq!(a.form(), Form::Evaluation, "products are taken between values");
        assert_operands(a, b);
        self.for_each_limb(a, |ring, i, limb| Products::new(ring.modulus()).mul_assign(limb, b.limb(i)));
    }

    /// a = -a.
    pub fn neg_assign(&self, a: &mut Poly) {
        self.for_each_limb(a, |ring, _, limb| Products::new(ring.modulus()).neg_assign(limb));
    }

    /// a + b.
    pub fn add(&self, a: &Poly, b: &Poly) -> Poly {
        let mut sum = a.clone();
        self.add_assign(&mut sum, b);
        sum
    }

    /// a - b.
    pub fn sub(&self, a: &Poly, b: &Poly) -> Poly {
        let mut difference = a.clone();
        self.sub_assign(&mut difference, b);
        difference
    }

    /// a b, both as values.
    pub fn mul(&self, a: &Poly, b: &Poly) -> Poly {
        self.sum_of_products(&[(a, b)])
    }

    /// The sum of the products of pairs of values, with the limbs of the first; at least one pair.
    pub fn sum_of_products(&self, pairs: &[(&Poly, &Poly)]) -> Poly {
        let first = pairs[0].0;
        assert_eq!(first.form(), Form::Evaluation, "products are taken between values");
        for (a, b) in pairs {
            assert_operands(first, a);
            assert_operands(first, b);
        }
        let mut sum = self.dirty(first.limbs(), Form::Evaluation);
        self.for_each_limb(&mut sum, |ring, i, limb| {
            let terms: Vec<_> = pairs.iter().map(|(a, b)| (a.limb(i), [b.limb(i)])).collect();
            Products::new(ring.modulus()).sums_of_products([None], &terms, [limb]);
        });
        sum
    }

    /// sum += a b, all as values.
    pub fn mul_add_assign(&self, sum: &mut Poly, a: &Poly, b: &Poly) {
        assert_operands(sum, a);
        assert_operands(sum, b);
        assert_eq!(sum.form(), Form::Evaluation, "products are taken between values");
        self.for_each_limb(sum, |ring, i, limb| {
            Products::new(ring.modulus()).mul_add_assign(limb, a.limb(i), b.limb(i));
        });
    }

    /// a *= c for an integer c.
    pub fn mul_integer_assign(&self, a: &mut Poly, c: i64) {
        let residues: Vec<u64> = self.moduli().map(|m| m.reduce_signed(c)).collect();
        self.mul_residues_assign(a, &residues);
    }

    /// a *= c for a constant c given by its residue modulo every prime.
    pub fn mul_residues_assign(&self, a: &mut Poly, residues: &[u64]) {
        self.for_each_limb(a, |ring, i, limb| {
            Products::new(ring.modulus()).scale(limb, ring.modulus().shoup(residues[i]));
        });
    }

    /// The image of an element under an automorphism, in the form it is in.
    pub fn automorphism(&self, a: &Poly, g: Galois) -> Poly {
        let mut image = self.dirty(a.limbs(), a.form());
        match a.form() {
            Form::Evaluation => {
                let map = ValueMap::new(self.spec(), g);
                self.for_each_limb(&mut image, |_, i, limb| map.apply(a.limb(i), limb));
            }
            Form::Coefficient => self.for_each_limb(&mut image, |ring, i, limb| {
                let m = ring.modulus();
                limb.copy_from_slice(&self.spec().map_coefficients(g, a.limb(i), |x| m.neg(x)));
            }),
        }
        image
    }

    /// Calls `f` with every limb of `a`, its number and its tables; in parallel when that pays.
    pub(super) fn for_each_limb(&self, a: &mut Poly, f: impl Fn(&LimbRing, usize, &mut [u64]) + Sync) {
        assert!(a.degree() == self.degree() && a.limbs() <= self.primes(), "polynomial of another ring");
        for_each_limb([a], |i, [limb]| f(&self.limbs[i], i, limb));
    }
}

/// Calls `f` with the number of every limb and that limb of each of several polynomials; in parallel when that pays.
pub(crate) fn for_each_limb<const C: usize>(
    polys: [&mut Poly; C],
    f: impl Fn(usize, [&mut [u64]; C]) + Sync,
) {
    let degree = polys[0].degree();
    parallel::for_each_limb(polys.map(Poly::words_mut), degree, f);
}

fn assert_operands(a: &Poly, b: &Poly) {
    assert_eq!(a.form(), b.form(), "operands in different forms");
    assert!(a.limbs() <= b.limbs(), "operand with {} limbs, needed {}", b.limbs(), a.limbs());
}
