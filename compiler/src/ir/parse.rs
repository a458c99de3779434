//! Reads the text form of [`crate::ir::print`] by recursive descent, one function for one construct.

use crate::ir::graph::{Graph, InputDecl, NodeId, OutputDecl};
use crate::ir::lex::{Lexer, Token};
use crate::ir::op::{Approximation, Op};
use grammar::Span;
use plan::op::OpError;
use plan::tensor::ShapeError;
use plan::{Function, LinearStep, Operand, Secrecy, Tensor, TensorOp, plan::Constant};

/// Why a text is not a graph, and where.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct ParseError {
    /// line of the text, from 1
    pub line: usize,
    /// what is wrong
    pub problem: Problem,
}

/// What is wrong with a line of the text.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Problem {
    /// Another token was needed.
    #[error("expected {expected}, found {found}")]
    Expected {
        /// what would be right
        expected: &'static str,
        /// what is there
        found: String,
    },
    /// Numbers of nodes and constants are consecutive.
    #[error("the next number is {expected}, found {found}")]
    Number {
        /// the number due
        expected: usize,
        /// the number there
        found: usize,
    },
    /// A node, constant or input that is not there (yet).
    #[error("{0} is not known here")]
    Unknown(String),
    /// The shape or secrecy that the line states is not what its operation gives.
    #[error("the line states {stated}, its operation gives {computed}")]
    Stated {
        /// in the text
        stated: String,
        /// by the operation
        computed: String,
    },
    /// The operation does not apply.
    #[error(transparent)]
    Operation(#[from] OpError),
    /// A constant's values do not fill its shape.
    #[error(transparent)]
    Constant(#[from] ShapeError),
}

/// Reads one circuit.
pub fn parse(text: &str) -> Result<Graph, ParseError> {
    let mut p = Parser { lex: Lexer::new(text), graph: Graph::default() };
    p.circuit().map_err(|problem| ParseError { line: p.lex.line(), problem })?;
    Ok(p.graph)
}

struct Parser<'t> {
    lex: Lexer<'t>,
    graph: Graph,
}

type Parsed<T> = Result<T, Problem>;

impl Parser<'_> {
    fn circuit(&mut self) -> Parsed<()> {
        self.word("circuit")?;
        self.punct("@")?;
        self.graph.name = self.name()?;
        self.punct("(")?;
        while !self.lex.eat(")") {
            let input = self.input()?;
            self.graph.inputs.push(input);
            self.lex.eat(",");
        }
        self.punct("{")?;
        while !self.lex.eat("}") {
            self.statement()?;
        }
        match self.lex.peek() {
            Token::End => Ok(()),
            _ => self.expected("the end of the text"),
        }
    }

    fn input(&mut self) -> Parsed<InputDecl> {
        self.punct("%")?;
        let name = self.name()?;
        self.punct(":")?;
        let secrecy = self.secrecy()?;
        self.word("f64")?;
        let shape = self.list(Self::natural)?;
        self.word("in")?;
        let (low, high) = self.interval()?;
        Ok(InputDecl { name, secrecy, shape, low, high, span: self.place()? })
    }

    fn statement(&mut self) -> Parsed<()> {
        if self.lex.eat("const") {
            return self.constant();
        }
        if self.lex.eat("return") {
            let name = self.string()?;
            self.punct("=")?;
            let node = self.node()?;
            self.punct("{")?;
            self.word("precision")?;
            let precision = self.number()?;
            self.punct("}")?;
            let output = OutputDecl { name, node, precision, span: self.place()? };
            self.graph.outputs.push(output);
            return Ok(());
        }
        let number = self.numbered('n', "a node, `const` or `return`")?;
        due(self.graph.len(), number)?;
        self.punct("=")?;
        self.node_line()
    }

    fn constant(&mut self) -> Parsed<()> {
        let number = self.numbered('c', "the number of a constant")?;
        due(self.graph.constants.len(), number)?;
        let name = self.string()?;
        self.punct("=")?;
        self.word("f64")?;
        let shape = self.list(Self::natural)?;
        let value = Tensor::new(shape, self.list(Self::number)?)?;
        self.graph.constants.push(Constant { name, value });
        Ok(())
    }

    fn node_line(&mut self) -> Parsed<()> {
        let mut op = self.operation()?;
        let mut args = vec![];
        while self.lex.is_numbered('n') {
            args.push(self.node()?);
            if !self.lex.eat(",") {
                break;
            }
        }
        if let Op::Function { wish, .. } = &mut op {
            *wish = self.wishes()?;
        }
        let stated =
            if self.lex.eat(":") { Some((self.secrecy()?, self.list(Self::natural)?)) } else { None };
        let span = self.place()?;
        let id = self.graph.add(op, &args, span)?;
        let computed = (self.graph.node(id).secrecy, self.graph.shape(id).to_vec());
        match stated {
            Some(s) if s != computed => {
                Err(Problem::Stated { stated: format!("{s:?}"), computed: format!("{computed:?}") })
            }
            _ => Ok(()),
        }
    }

    fn operation(&mut self) -> Parsed<Op> {
        let name = match self.lex.next() {
            Token::Word(w) => w,
            other => return Err(wrong("an operation", &other)),
        };
        Ok(match name.as_str() {
            "input" => {
                self.punct("%")?;
                let name = self.name()?;
                let at = self.graph.inputs.iter().position(|i| i.name == name);
                Op::Input(at.ok_or(Problem::Unknown(name))?)
            }
            "const" => {
                let c = self.numbered('c', "the number of a constant")?;
                let known = c < self.graph.constants.len();
                Op::Constant(known.then_some(c).ok_or_else(|| Problem::Unknown(format!("c{c}")))?)
            }
            "assume" => {
                let name = self.string()?;
                self.word("in")?;
                let (low, high) = self.interval()?;
                Op::Assume { name, low, high }
            }
            "approximated" => {
                let error = self.number()?;
                self.word("in")?;
                let (low, high) = self.interval()?;
                Op::Approximated { error, low, high }
            }
            "combine" => {
                let coefficients = self.list(Self::number)?;
                self.punct("+")?;
                Op::Combine { coefficients, constant: self.number()? }
            }
            "apply" => {
                let name = self.name()?;
                Op::Tensor(TensorOp::Apply { function: self.function(&name)? })
            }
            other => match self.tensor_op(other)? {
                Some(op) => Op::Tensor(op),
                None => Op::Function { function: self.function(other)?, wish: Approximation::default() },
            },
        })
    }

    fn tensor_op(&mut self, name: &str) -> Parsed<Option<TensorOp>> {
        Ok(Some(match name {
            "add" => TensorOp::Add,
            "sub" => TensorOp::Sub,
            "mul" => TensorOp::Mul,
            "div" => TensorOp::Div,
            "neg" => TensorOp::Neg,
            "matmul" => TensorOp::MatMul,
            "pow" => TensorOp::Pow { exponent: self.natural()? as u32 },
            "poly" => TensorOp::Polynomial { coefficients: self.list(Self::number)? },
            "cheb" => {
                let coefficients = self.list(Self::number)?;
                self.word("on")?;
                let (low, high) = self.interval()?;
                TensorOp::Chebyshev { coefficients, low, high }
            }
            "linear" => {
                self.punct("(")?;
                let mut steps = vec![];
                while !self.lex.eat(")") {
                    steps.push(self.step()?);
                    self.lex.eat(";");
                }
                TensorOp::Linear { steps }
            }
            _ => return Ok(None),
        }))
    }

    fn function(&mut self, name: &str) -> Parsed<Function> {
        const PLAIN: [Function; 17] = [
            Function::Exp,
            Function::Log,
            Function::Inv,
            Function::Sqrt,
            Function::Rsqrt,
            Function::Sigmoid,
            Function::Tanh,
            Function::Gelu,
            Function::Silu,
            Function::Erf,
            Function::Softplus,
            Function::Relu,
            Function::Abs,
            Function::Sin,
            Function::Cos,
            Function::Sign,
            Function::Step,
        ];
        if name == "clip" {
            let (low, high) = self.interval()?;
            return Ok(Function::Clip { low, high });
        }
        let found = PLAIN.into_iter().find(|f| f.name() == name);
        found.ok_or_else(|| Problem::Unknown(name.to_string()))
    }

    fn wishes(&mut self) -> Parsed<Approximation> {
        let mut wish = Approximation::default();
        if !self.lex.eat("{") {
            return Ok(wish);
        }
        while !self.lex.eat("}") {
            match self.lex.next() {
                Token::Word(w) if w == "on" => wish.on = Some(self.interval()?),
                Token::Word(w) if w == "within" => wish.within = Some(self.number()?),
                Token::Word(w) if w == "degree" => wish.degree = Some(self.natural()? as u32),
                Token::Word(w) if w == "gap" => wish.gap = Some(self.number()?),
                other => return Err(wrong("on, within, degree or gap", &other)),
            }
            self.lex.eat(",");
        }
        Ok(wish)
    }

    fn step(&mut self) -> Parsed<LinearStep> {
        let name = self.name()?;
        Ok(match name.as_str() {
            "transpose" => LinearStep::Transpose { perm: self.list(Self::natural)? },
            "reshape" => LinearStep::Reshape { shape: self.list(Self::natural)? },
            "broadcast" => LinearStep::Broadcast { shape: self.list(Self::natural)? },
            "slice" => {
                let start = self.list(Self::natural)?;
                self.word("by")?;
                let step = self.list(Self::integer)?;
                self.word("of")?;
                LinearStep::Slice { start, step, count: self.list(Self::natural)? }
            }
            "pad" => LinearStep::Pad { before: self.list(Self::natural)?, after: self.list(Self::natural)? },
            "roll" => {
                let axis = self.natural()?;
                self.word("by")?;
                LinearStep::Roll { axis, shift: self.natural()? }
            }
            "sum" => LinearStep::Sum { axes: self.list(Self::natural)? },
            "diagonal_of" => LinearStep::DiagonalOf,
            "diagonal_matrix" => LinearStep::DiagonalMatrix,
            "scale" => LinearStep::Scale { by: self.operand()? },
            "scale_by" => LinearStep::ScaleBy { factor: self.number()? },
            "matmul_right" => {
                LinearStep::MatMulRight { weight: self.operand()?, shape: self.list(Self::natural)? }
            }
            "matmul_left" => {
                LinearStep::MatMulLeft { weight: self.operand()?, shape: self.list(Self::natural)? }
            }
            "conv2d" => self.conv2d()?,
            "avg_pool2d" => {
                let kernel = self.pair()?;
                self.word("stride")?;
                let stride = self.pair()?;
                self.word("padding")?;
                LinearStep::AvgPool2d { kernel, stride, padding: self.pair()? }
            }
            other => return Err(Problem::Unknown(other.to_string())),
        })
    }

    fn conv2d(&mut self) -> Parsed<LinearStep> {
        let kernel = self.operand()?;
        let shape = self.list(Self::natural)?;
        self.word("stride")?;
        let stride = self.pair()?;
        self.word("padding")?;
        let padding = self.pair()?;
        self.word("dilation")?;
        let dilation = self.pair()?;
        self.word("groups")?;
        Ok(LinearStep::Conv2d { kernel, shape, stride, padding, dilation, groups: self.natural()? })
    }

    fn operand(&mut self) -> Parsed<Operand> {
        self.punct("%")?;
        Ok(Operand(self.natural()?))
    }

    fn pair(&mut self) -> Parsed<[usize; 2]> {
        let list = self.list(Self::natural)?;
        list.try_into().map_err(|l| Problem::Expected { expected: "two numbers", found: format!("{l:?}") })
    }

    fn interval(&mut self) -> Parsed<(f64, f64)> {
        let ends = self.list(Self::number)?;
        match ends[..] {
            [low, high] => Ok((low, high)),
            _ => Err(Problem::Expected { expected: "two numbers", found: format!("{ends:?}") }),
        }
    }

    fn list<T>(&mut self, item: impl Fn(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        self.punct("[")?;
        let mut items = vec![];
        while !self.lex.eat("]") {
            items.push(item(self)?);
            self.lex.eat(",");
        }
        Ok(items)
    }

    fn place(&mut self) -> Parsed<Option<Span>> {
        if !self.lex.eat("@") {
            return Ok(None);
        }
        let start = self.natural()?;
        self.punct("..")?;
        Ok(Some(Span::new(start, self.natural()?)))
    }

    fn secrecy(&mut self) -> Parsed<Secrecy> {
        match self.lex.next() {
            Token::Word(w) if w == "cipher" => Ok(Secrecy::Cipher),
            Token::Word(w) if w == "plain" => Ok(Secrecy::Plain),
            other => Err(wrong("cipher or plain", &other)),
        }
    }

    fn node(&mut self) -> Parsed<NodeId> {
        let n = self.numbered('n', "a node")?;
        let known = n < self.graph.len();
        known.then_some(NodeId(n as u32)).ok_or_else(|| Problem::Unknown(format!("n{n}")))
    }

    fn numbered(&mut self, letter: char, expected: &'static str) -> Parsed<usize> {
        match self.lex.next() {
            Token::Word(w) => match w.strip_prefix(letter).and_then(|n| n.parse().ok()) {
                Some(n) => Ok(n),
                None => Err(wrong(expected, &Token::Word(w))),
            },
            other => Err(wrong(expected, &other)),
        }
    }

    fn natural(&mut self) -> Parsed<usize> {
        self.parsed("a natural number")
    }
    fn integer(&mut self) -> Parsed<i64> {
        self.parsed("an integer")
    }
    fn number(&mut self) -> Parsed<f64> {
        self.parsed("a number")
    }
    fn parsed<T: std::str::FromStr>(&mut self, expected: &'static str) -> Parsed<T> {
        match self.lex.next() {
            Token::Number(text) => text.parse().map_err(|_| wrong(expected, &Token::Number(text))),
            Token::Word(w) if w == "inf" || w == "NaN" => {
                w.parse().map_err(|_| wrong(expected, &Token::Word(w)))
            }
            other => Err(wrong(expected, &other)),
        }
    }

    /// A word or a quoted name.
    fn name(&mut self) -> Parsed<String> {
        match self.lex.next() {
            Token::Word(w) | Token::Text(w) | Token::Number(w) => Ok(w),
            other => Err(wrong("a name", &other)),
        }
    }
    fn string(&mut self) -> Parsed<String> {
        match self.lex.next() {
            Token::Text(s) => Ok(s),
            other => Err(wrong("a name in quotes", &other)),
        }
    }
    fn word(&mut self, expected: &'static str) -> Parsed<()> {
        if self.lex.eat(expected) { Ok(()) } else { self.expected(expected) }
    }
    fn punct(&mut self, expected: &'static str) -> Parsed<()> {
        self.word(expected)
    }
    fn expected<T>(&mut self, expected: &'static str) -> Parsed<T> {
        Err(wrong(expected, &self.lex.peek()))
    }
}

fn wrong(expected: &'static str, found: &Token) -> Problem {
    Problem::Expected { expected, found: found.to_string() }
}

fn due(expected: usize, found: usize) -> Parsed<()> {
    if expected == found { Ok(()) } else { Err(Problem::Number { expected, found }) }
}
