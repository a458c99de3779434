//! The functions of the language: their parameters in one table, and one arm each that computes them.

use crate::from_ast::Builder;
use crate::from_ast::value::{Array, Eval, Value};
use grammar::Span;
use grammar::ast::{Arg, Name};
use plan::Function;

/// How a function is called.
#[derive(Debug, PartialEq)]
pub(super) struct Signature {
    pub(super) name: &'static str,
    /// parameters given in order, the first `required` of them always
    pub(super) ordered: &'static [&'static str],
    pub(super) required: usize,
    /// parameters given by name
    pub(super) named: &'static [&'static str],
    /// the first argument is a list of tensors of any shapes
    pub(super) list: bool,
}

const fn takes(
    name: &'static str,
    required: usize,
    ordered: &'static [&'static str],
    named: &'static [&'static str],
) -> Signature {
    Signature { name, ordered, required, named, list: false }
}

const fn joins(name: &'static str) -> Signature {
    Signature { name, ordered: &["tensors"], required: 1, named: &["axis"], list: true }
}

const X: &[&str] = &["x"];
const AB: &[&str] = &["a", "b"];
const SMOOTH: &[&str] = &["on", "within", "degree"];
const KINKED: &[&str] = &["on", "within", "degree", "gap"];
const JUMPING: &[&str] = &["on", "within", "gap"];
const REDUCED: &[&str] = &["axis", "keepdims"];
const LARGEST: &[&str] = &["axis", "keepdims", "on", "within", "gap"];

static TABLE: [Signature; 50] = [
    takes("abs", 1, X, KINKED),
    takes("avg_pool2d", 1, X, &["kernel", "stride", "padding"]),
    takes("batch_norm", 1, &["x", "gamma", "beta", "mean", "var"], &["eps", "within"]),
    takes("broadcast", 2, &["x", "shape"], &[]),
    takes("cheb", 2, &["x", "coefficients"], &["on"]),
    takes("clip", 3, &["x", "low", "high"], SMOOTH),
    joins("concat"),
    takes("conv2d", 2, &["x", "w"], &["bias", "stride", "padding", "dilation", "groups"]),
    takes("cos", 1, X, SMOOTH),
    takes("diag", 1, X, &[]),
    takes("dot", 2, AB, &[]),
    takes("erf", 1, X, SMOOTH),
    takes("exp", 1, X, SMOOTH),
    takes("eye", 1, &["n"], &[]),
    takes("flatten", 1, X, &[]),
    takes("gelu", 1, X, SMOOTH),
    takes("inv", 1, X, SMOOTH),
    takes("layer_norm", 1, &["x", "gamma", "beta"], &["eps", "var_on", "within"]),
    takes("load", 1, &["path", "key"], &[]),
    takes("log", 1, X, SMOOTH),
    takes("max", 1, X, LARGEST),
    takes("maximum", 2, AB, JUMPING),
    takes("mean", 1, X, REDUCED),
    takes("min", 1, X, LARGEST),
    takes("minimum", 2, AB, JUMPING),
    takes("ones", 1, &["shape"], &[]),
    takes("outer", 2, AB, &[]),
    takes("pad", 2, &["x", "widths"], &["value"]),
    takes("poly", 2, &["x", "coefficients"], &[]),
    takes("relu", 1, X, KINKED),
    takes("reshape", 2, &["x", "shape"], &[]),
    takes("rms_norm", 1, &["x", "gamma"], &["eps", "var_on", "within"]),
    takes("roll", 2, &["x", "shift"], &["axis"]),
    takes("rsqrt", 1, X, SMOOTH),
    takes("sigmoid", 1, X, SMOOTH),
    takes("sign", 1, X, JUMPING),
    takes("silu", 1, X, SMOOTH),
    takes("sin", 1, X, SMOOTH),
    takes("size", 2, &["x", "axis"], &[]),
    takes("softmax", 1, X, &["axis", "on", "within"]),
    takes("softplus", 1, X, SMOOTH),
    takes("sqrt", 1, X, SMOOTH),
    joins("stack"),
    takes("step", 1, X, JUMPING),
    takes("sum", 1, X, REDUCED),
    takes("tanh", 1, X, SMOOTH),
    takes("trace", 1, X, &[]),
    takes("transpose", 1, &["x", "axes"], &[]),
    takes("var", 1, X, REDUCED),
    takes("zeros", 1, &["shape"], &[]),
];

/// The signature of a function of the language.
pub(super) fn find(name: &str) -> Option<&'static Signature> {
    TABLE.iter().find(|s| s.name == name)
}

/// All names.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    TABLE.iter().map(|s| s.name)
}

/// What other libraries' functions are called here.
pub(super) fn foreign(name: &str) -> Option<&'static str> {
    Some(match name {
        "matmul" | "mm" | "bmm" => "the matrix product is `a @ b`",
        "pow" | "power" | "square" => "powers are `x ** 2`",
        "len" | "shape" | "dim" => "the size of an axis is `size(x, 0)`",
        "cat" | "hstack" | "vstack" | "concatenate" => "tensors are joined by `concat([a, b], axis = 0)`",
        "permute" | "swapaxes" | "moveaxis" => "axes are permuted by `transpose(x, [1, 0, 2])`",
        "view" | "resize" => "the shape is changed by `reshape(x, [2, -1])`",
        "squeeze" => "an axis of size 1 is dropped by its index: `x[0]`",
        "unsqueeze" | "expand_dims" => "an axis of size 1 is added by `x[:, None]`",
        "expand" | "tile" | "broadcast_to" => "axes of size 1 are repeated by `broadcast(x, [3, 4])`",
        "where" | "select" => "conditions are not known under encryption: combine both values with `step(x)`",
        "argmax" | "argmin" | "sort" | "topk" => {
            "not available under encryption; the values are: `max(x, axis = 0)`"
        }
        "range" | "arange" | "linspace" => "steps are written `0..n`, a tensor of them `[t for t in 0..n]`",
        "full" => "a tensor of one value is `v * ones([3, 4])`",
        "ln" => "the natural logarithm is `log(x)`",
        "reciprocal" => "the inverse is `inv(x)`",
        "sum_of_squares" | "norm" => "write `sum(x * x)`, or `sqrt(sum(x * x))`",
        "sine" | "cosine" => "they are called `sin` and `cos`",
        "logistic" => "it is called `sigmoid`",
        "einsum" => "write products with `@`, `*`, `transpose` and `sum`",
        "max_pool2d" => "not available; `avg_pool2d` is cheap under encryption",
        _ => return None,
    })
}

impl<'a> Builder<'a> {
    /// A call of a function of the language; an unknown one was reported when names were resolved.
    pub(super) fn builtin(&mut self, callee: &'a Name, args: &'a [Arg], at: Span) -> Eval {
        let args = self.bind(find(&callee.text), args, callee, at)?;
        let array = match callee.text.as_str() {
            // shapes
            "broadcast" => self.broadcast_call(&args),
            "concat" => self.concat_call(&args),
            "diag" => self.diag(&args),
            "eye" => self.eye(&args),
            "flatten" => self.arg_array(&args, "x").and_then(|x| self.flatten(&x, at)),
            "load" => self.load(&args),
            "ones" => self.filled(&args, 1.0),
            "outer" => self.outer(&args),
            "pad" => self.pad_call(&args),
            "reshape" => self.reshape_call(&args),
            "roll" => self.roll_call(&args),
            "size" => self.size(&args),
            "stack" => self.stack_call(&args),
            "trace" => self.trace(&args),
            "transpose" => self.transpose(&args),
            "zeros" => self.filled(&args, 0.0),
            // sums and products
            "avg_pool2d" => self.avg_pool2d(&args),
            "conv2d" => self.conv2d(&args),
            "dot" => {
                let (a, b) = (self.arg_array(&args, "a")?, self.arg_array(&args, "b")?);
                self.dot(&a, &b, at)
            }
            "mean" => self.mean_call(&args),
            "sum" => self.sum_call(&args),
            "var" => self.var_call(&args),
            // largest and smallest
            "max" => self.extreme_call(&args, true),
            "min" => self.extreme_call(&args, false),
            "maximum" => self.extreme_of_two_call(&args, true),
            "minimum" => self.extreme_of_two_call(&args, false),
            // norms
            "batch_norm" => self.batch_norm(&args),
            "layer_norm" => self.layer_norm(&args),
            "rms_norm" => self.rms_norm(&args),
            "softmax" => self.softmax(&args),
            // polynomials and functions
            "poly" => self.poly(&args),
            "cheb" => self.cheb(&args),
            "clip" => self.clip(&args),
            name => match scalar_function(name) {
                Some(function) => self.approximated(function, &args),
                None => return Err(super::value::Poisoned),
            },
        };
        array.map(Value::Array)
    }

    fn size(&mut self, args: &super::arguments::Arguments<'a>) -> Eval<Array> {
        let x = self.arg_array(args, "x")?;
        let (shape, given) = (self.shape(&x), args.need("axis")?);
        let axis = self.integer(given, "axis")?;
        let axis = self.axis_of(axis, &shape, given.span)?;
        Ok(Array::number(shape[axis] as f64))
    }
}

/// The functions that apply to each element, without parameters of their own.
fn scalar_function(name: &str) -> Option<Function> {
    use Function::*;
    let all = [
        Exp, Log, Inv, Sqrt, Rsqrt, Sigmoid, Tanh, Gelu, Silu, Erf, Softplus, Relu, Abs, Sin, Cos, Sign, Step,
    ];
    all.into_iter().find(|f| f.name() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_complete() {
        assert!(TABLE.windows(2).all(|w| w[0].name < w[1].name));
        assert!(find("softmax").is_some() && find("sofmax").is_none());
        assert!(names().all(|n| foreign(n).is_none()));
    }
}
