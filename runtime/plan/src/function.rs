//! The scalar functions of the language, exact in f64. Taken from `libm` so that every machine computes the same bits.

use serde::{Deserialize, Serialize};

/// A function applied to every element. Encrypted evaluation approximates it on an interval; its meaning stays exact.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Function {
    /// e^x
    Exp,
    /// natural logarithm, x > 0
    Log,
    /// 1 / x, x != 0
    Inv,
    /// square root, x >= 0
    Sqrt,
    /// 1 / sqrt(x), x > 0
    Rsqrt,
    /// 1 / (1 + e^-x)
    Sigmoid,
    /// hyperbolic tangent
    Tanh,
    /// x Phi(x), exact by erf
    Gelu,
    /// x sigmoid(x)
    Silu,
    /// error function
    Erf,
    /// ln(1 + e^x)
    Softplus,
    /// max(x, 0)
    Relu,
    /// |x|
    Abs,
    /// sine
    Sin,
    /// cosine
    Cos,
    /// -1, 0, 1
    Sign,
    /// 0, 0.5, 1
    Step,
    /// min(max(x, low), high)
    Clip {
        /// lower bound
        low: f64,
        /// upper bound
        high: f64,
    },
}

impl Function {
    /// The exact value; NaN or infinite outside the domain.
    pub fn eval(self, x: f64) -> f64 {
        match self {
            Function::Exp => libm::exp(x),
            Function::Log => libm::log(x),
            Function::Inv => 1.0 / x,
            Function::Sqrt => x.sqrt(),
            Function::Rsqrt => 1.0 / x.sqrt(),
            Function::Sigmoid => sigmoid(x),
            Function::Tanh => libm::tanh(x),
            Function::Gelu => 0.5 * x * (1.0 + libm::erf(x / std::f64::consts::SQRT_2)),
            Function::Silu => x * sigmoid(x),
            Function::Erf => libm::erf(x),
            Function::Softplus => x.max(0.0) + libm::log1p(libm::exp(-x.abs())),
            Function::Relu => x.max(0.0),
            Function::Abs => x.abs(),
            Function::Sin => libm::sin(x),
            Function::Cos => libm::cos(x),
            Function::Sign if x == 0.0 => 0.0,
            Function::Sign => x.signum(),
            Function::Step => 0.5 + 0.5 * Function::Sign.eval(x),
            Function::Clip { low, high } => x.max(low).min(high),
        }
    }

    /// Name in the language.
    pub fn name(self) -> &'static str {
        match self {
            Function::Exp => "exp",
            Function::Log => "log",
            Function::Inv => "inv",
            Function::Sqrt => "sqrt",
            Function::Rsqrt => "rsqrt",
            Function::Sigmoid => "sigmoid",
            Function::Tanh => "tanh",
            Function::Gelu => "gelu",
            Function::Silu => "silu",
            Function::Erf => "erf",
            Function::Softplus => "softplus",
            Function::Relu => "relu",
            Function::Abs => "abs",
            Function::Sin => "sin",
            Function::Cos => "cos",
            Function::Sign => "sign",
            Function::Step => "step",
            Function::Clip { .. } => "clip",
        }
    }

    /// Whether every point of `[low, high]` is in the domain.
    pub fn defined_on(self, low: f64, high: f64) -> bool {
        match self {
            Function::Log | Function::Rsqrt => low > 0.0,
            Function::Sqrt => low >= 0.0,
            Function::Inv => low > 0.0 || high < 0.0,
            _ => true,
        }
    }

    /// What the domain is, for messages.
    pub fn domain(self) -> &'static str {
        match self {
            Function::Log | Function::Rsqrt => "x > 0",
            Function::Sqrt => "x >= 0",
            Function::Inv => "x != 0",
            _ => "every x",
        }
    }
}

fn sigmoid(x: f64) -> f64 {
    if x >= 0.0 {
        1.0 / (1.0 + libm::exp(-x))
    } else {
        let e = libm::exp(x);
        e / (1.0 + e)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_at_known_points() {
        let near =
            |f: Function, x: f64, y: f64| assert!((f.eval(x) - y).abs() < 1e-15, "{} at {x}", f.name());
        near(Function::Gelu, 1.0, 0.841_344_746_068_542_9);
        near(Function::Sigmoid, -800.0, 0.0);
        near(Function::Softplus, 800.0, 800.0);
        near(Function::Step, 0.0, 0.5);
        near(Function::Clip { low: -1.0, high: 2.0 }, 3.0, 2.0);
        assert!(!Function::Inv.defined_on(-1.0, 1.0) && Function::Sqrt.defined_on(0.0, 1.0));
    }
}
