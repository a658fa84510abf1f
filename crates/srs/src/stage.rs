//! The stage that brings parameters into memory.

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::sync::Arc;

use cuzk_pipeline_core::{Cost, Cx, ErrorKind, Footprint, Stage};
use cuzk_values::Srs;

use crate::{ParameterFile, Query, SrsError};

/// `srs.load`: an open [`ParameterFile`] to an [`Srs`] whose chosen queries are
/// decoded in memory; the others stay in the file.
#[derive(Debug, Clone)]
pub struct Load {
    file: Arc<ParameterFile>,
    queries: Vec<Query>,
}

impl Load {
    /// Decodes `queries` of `file` into memory.
    pub fn new(file: Arc<ParameterFile>, queries: impl Into<Vec<Query>>) -> Self {
        Self { file, queries: queries.into() }
    }
}

impl Stage for Load {
    type In = ();
    type Out = Srs;
    type Error = SrsError;

    fn name(&self) -> Cow<'static, str> {
        "srs.load".into()
    }

    fn kind(&self, error: &SrsError) -> ErrorKind {
        error.kind()
    }

    fn cost(&self) -> Cost {
        Cost::free().output(Footprint::host(self.file.resident_bytes(&self.queries)))
    }

    fn run(&self, cx: &Cx<'_>, (): ()) -> Result<Srs, SrsError> {
        let mut watch = |_| match cx.checkpoint() {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        };
        cx.install(|| self.file.resident(&self.queries, &mut watch))
    }
}
