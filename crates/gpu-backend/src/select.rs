//! Backends by name, picked at run time.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use crate::{Backend, Error, Host};

/// A backend that this crate knows, whether it is part of this build or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// NVIDIA's devices.
    Cuda,
    /// Any vendor's devices.
    OpenCl,
    /// The host as a device, for tests.
    Host,
}

/// What is done with a backend that is known by name.
pub trait Visit {
    /// What comes of it.
    type Out;

    /// Does it.
    fn visit<B: Backend>(self) -> Self::Out;
}

impl Kind {
    /// All of them, the fastest first.
    pub const ALL: [Self; 3] = [Self::Cuda, Self::OpenCl, Self::Host];

    /// [`Backend::NAME`].
    pub fn name(self) -> &'static str {
        match self {
            Self::Cuda => "cuda",
            Self::OpenCl => "opencl",
            Self::Host => Host::NAME,
        }
    }

    /// The families of this workspace whose kernels this build has for the backend; `None` where it
    /// is not part of the build, or its kernels are Rust functions beside the operations.
    pub fn families(self) -> Option<Vec<&'static str>> {
        match self {
            #[cfg(feature = "cuda")]
            Self::Cuda => Some(crate::embedded::CUDA.iter().map(|(family, _)| *family).collect()),
            #[cfg(feature = "opencl")]
            Self::OpenCl => Some(crate::embedded::OPENCL.iter().map(|(family, _)| *family).collect()),
            _ => None,
        }
    }

    /// Does something with the backend.
    ///
    /// # Errors
    /// [`Error::Unavailable`] where it is not part of this build.
    pub fn visit<V: Visit>(self, visitor: V) -> Result<V::Out, Error> {
        #[cfg(not(all(feature = "cuda", feature = "opencl")))]
        let absent = |kind: Self| Error::Unavailable {
            backend: kind.name(),
            reason: "it is not part of this build".to_owned(),
        };
        match self {
            #[cfg(feature = "cuda")]
            Self::Cuda => Ok(visitor.visit::<crate::Cuda>()),
            #[cfg(not(feature = "cuda"))]
            Self::Cuda => Err(absent(self)),
            #[cfg(feature = "opencl")]
            Self::OpenCl => Ok(visitor.visit::<crate::OpenCl>()),
            #[cfg(not(feature = "opencl"))]
            Self::OpenCl => Err(absent(self)),
            Self::Host => Ok(visitor.visit::<Host>()),
        }
    }
}

/// Keeps programs that are compiled at run time in files of a folder: see [`OpenCl`](Kind::OpenCl).
pub fn keep_programs_in(folder: &Path) {
    #[cfg(feature = "opencl")]
    crate::OpenCl::cache_in(folder);
    #[cfg(not(feature = "opencl"))]
    let _ = folder;
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Not the name of a backend.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no backend; there are cuda, opencl and host")]
pub struct UnknownBackend(String);

impl FromStr for Kind {
    type Err = UnknownBackend;

    fn from_str(name: &str) -> Result<Self, UnknownBackend> {
        Self::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| UnknownBackend(name.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Name;

    impl Visit for Name {
        type Out = &'static str;
        fn visit<B: Backend>(self) -> &'static str {
            B::NAME
        }
    }

    #[test]
    fn backends_are_found_by_their_names() {
        for kind in Kind::ALL {
            assert_eq!(kind.name().parse(), Ok(kind));
            match kind.visit(Name) {
                Ok(name) => assert_eq!(name, kind.name()),
                Err(error) => {
                    assert!(matches!(error, Error::Unavailable { backend, .. } if backend == kind.name()));
                }
            }
        }
        assert!("metal".parse::<Kind>().is_err());
    }
}
