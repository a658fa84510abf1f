//! Vanilla proofs in binary: alone, one after the other, or in JSON.
//!
//! What a PoSt and an update have in common. The object of JSON has a place for
//! all that a request says; `docs/inputs.md` describes it.

use base64::engine::general_purpose::STANDARD;
use base64::read::DecoderReader;
use cuzk_values::{Node, PostKind, PostVersion};

use super::bincode::Bincode;
use super::error::{Fault, Problem};
use super::json::Json;
use super::layers::{Layer, Layers};
use super::open::{SNIFFED, unknown};
use super::reader::{Names, Reader, is_canonical};
use super::window::Window;
use crate::{c1, post, snap};

/// The fields of the object of JSON.
const FIELDS: Names = &[
    "kind",
    "registered_proof",
    "version",
    "sector_size",
    "miner_id",
    "prover_id",
    "sector_number",
    "randomness",
    "partition_index",
    "comm_r_old",
    "comm_r_new",
    "comm_d_new",
    "high_bits",
    // A C1's, which is told apart from requests by it.
    "Phase1Out",
    "vanilla_proofs",
];

const KINDS: Names = &["window-post", "winning-post", "snap"];
const VERSIONS: Names = &["V1", "V1_1"];

/// What an input says, before it is held against what its kind and size ask for.
#[derive(Default)]
pub(crate) struct Request {
    asked: Asked,
    pub(crate) kind: Option<Kind>,
    pub(crate) registered: Option<Registered>,
    pub(crate) version: Option<PostVersion>,
    pub(crate) sector_size: Option<u64>,
    pub(crate) prover_id: Option<Node>,
    pub(crate) randomness: Option<Node>,
    pub(crate) partition: Option<u32>,
    pub(crate) comm_r_old: Option<Node>,
    pub(crate) comm_r_new: Option<Node>,
    pub(crate) comm_d_new: Option<Node>,
    pub(crate) high_bits: Option<u32>,
    pub(crate) proofs: Proofs,
}

/// The kinds, by their names in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Post(PostKind),
    Snap,
}

/// The kinds that the caller takes.
#[derive(Clone, Copy, Default)]
enum Asked {
    #[default]
    Any,
    Posts,
    One(Kind),
}

impl Asked {
    /// Refuses another kind.
    fn check(self, kind: Kind) -> Result<(), Problem> {
        let (fits, expected) = match self {
            Self::Any => return Ok(()),
            Self::Posts => (kind != Kind::Snap, "window-post or winning-post"),
            Self::One(one) => (kind == one, one.name()),
        };
        if fits { Ok(()) } else { Err(Problem::OtherKind { found: kind.name(), expected }) }
    }
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Post(kind) => post::kind_name(kind),
            Self::Snap => "snap",
        }
    }
}

/// A registered proof, by its number or its name.
pub(crate) enum Registered {
    Number(u64),
    Name(String),
}

/// The vanilla proofs that have been read.
#[derive(Default)]
pub(crate) enum Proofs {
    /// None yet: the first one's bytes will tell.
    #[default]
    Unknown,
    /// Of a PoSt, one a sector.
    Post(post::Sectors),
    /// Of an update, one a partition.
    Snap(snap::Partitions),
}

impl Request {
    /// A request of a PoSt, of the kind that is asked for.
    pub(crate) fn post(kind: Option<PostKind>) -> Self {
        let asked = kind.map_or(Asked::Posts, |kind| Asked::One(Kind::Post(kind)));
        Self { asked, proofs: Proofs::Post(post::Sectors::default()), ..Self::default() }
    }

    /// A request of an update.
    pub(crate) fn snap() -> Self {
        let asked = Asked::One(Kind::Snap);
        Self { asked, proofs: Proofs::Snap(snap::Partitions::default()), ..Self::default() }
    }

    /// One or more proofs, one after the other.
    pub(crate) fn read_bincode(&mut self, mut window: Window<'_>, layers: &mut Layers) -> Result<(), Fault> {
        self.proofs.tell(&mut window)?;
        layers.push(self.proofs.layer(Form::Bincode));
        let mut bincode = Bincode(window);
        let mut i = 0;
        while bincode.0.peek()?.is_some() {
            self.proofs.read(&mut bincode, i).map_err(|f| f.in_element(i).in_field("vanilla_proofs"))?;
            i += 1;
        }
        Ok(())
    }

    /// The object, or the list of proofs alone.
    pub(crate) fn read_json(&mut self, mut json: Json<'_>, layers: &mut Layers) -> Result<(), Fault> {
        if json.token()? == b'[' {
            self.read_list(&mut json, layers, Form::List).map_err(|f| f.in_field("vanilla_proofs"))?;
            return json.finish();
        }
        let seen = json.object(FIELDS, |json, i| self.read_field(json, layers, FIELDS[i]))?;
        if seen & (1 << (FIELDS.len() - 1)) == 0 {
            return Err(Problem::OtherJson.into());
        }
        json.finish()
    }

    fn read_field(&mut self, json: &mut Json<'_>, layers: &mut Layers, name: &str) -> Result<(), Fault> {
        match name {
            "vanilla_proofs" => self.read_list(json, layers, Form::Json)?,
            "kind" => {
                let kinds = [Kind::Post(PostKind::Window), Kind::Post(PostKind::Winning), Kind::Snap];
                let (offset, kind) = (json.offset(), kinds[json.unit(KINDS)?]);
                self.asked.check(kind).map_err(|problem| Fault::at(offset, problem))?;
                self.kind = Some(kind);
            }
            "registered_proof" if json.token()? == b'"' => {
                self.registered = Some(Registered::Name(json.text()?));
            }
            "registered_proof" => self.registered = Some(Registered::Number(json.u64()?)),
            "version" => self.version = Some([PostVersion::V1, PostVersion::V1_1][json.unit(VERSIONS)?]),
            "sector_size" => self.sector_size = Some(json.u64()?),
            "miner_id" => self.prover(c1::prover_id(json.u64()?))?,
            "prover_id" => {
                let prover_id = canonical(json)?;
                self.prover(prover_id)?;
            }
            "randomness" => {
                let (offset, value) = json.hash()?;
                if !is_canonical(value) {
                    return Err(Fault::at(offset, Problem::Unmasked { value }));
                }
                self.randomness = Some(value);
            }
            "Phase1Out" => {
                let expected = "the vanilla proofs of a PoSt or an update";
                return Err(json.0.fault(Problem::OtherKind { found: "of a C1", expected }));
            }
            "partition_index" => self.partition = Some(json.u32()?),
            "comm_r_old" => self.comm_r_old = Some(canonical(json)?),
            "comm_r_new" => self.comm_r_new = Some(canonical(json)?),
            "comm_d_new" => self.comm_d_new = Some(canonical(json)?),
            "high_bits" => self.high_bits = Some(json.u32()?),
            // No proof depends on `sector_number`: a PoSt's sectors say their own.
            _ => drop(json.u64()?),
        }
        Ok(())
    }

    /// `miner_id` and `prover_id` may both be there.
    fn prover(&mut self, prover_id: Node) -> Result<(), Fault> {
        match self.prover_id.replace(prover_id) {
            Some(before) if before != prover_id => {
                let of = "what `miner_id` and `prover_id` are when they agree";
                Err(Problem::nodes_differ(&prover_id, &before, of).into())
            }
            _ => Ok(()),
        }
    }

    /// A list of texts in base64.
    fn read_list(&mut self, json: &mut Json<'_>, layers: &mut Layers, form: Form) -> Result<(), Fault> {
        layers.refine(self.proofs.layer(form));
        json.list(self.proofs.limit(), |json, i| {
            if json.token()? == b'[' {
                let expected = "a list of proofs in base64";
                return Err(Problem::OtherKind { found: "a C1's partition", expected }.into());
            }
            let mut window = Window::new(DecoderReader::new(json.string()?, &STANDARD));
            layers.push(Layer::Base64);
            self.proofs.tell(&mut window)?;
            layers.0.truncate(layers.0.len() - 1);
            layers.refine(self.proofs.layer(form));
            layers.0.extend([Layer::Base64, self.proofs.layer(Form::Bincode)]);
            let mut bincode = Bincode(window);
            self.proofs.read(&mut bincode, i)?;
            bincode.finish()?;
            layers.0.truncate(layers.0.len() - 2);
            json.close_string()
        })?;
        Ok(())
    }
}

fn canonical(json: &mut Json<'_>) -> Result<Node, Fault> {
    let (offset, value) = json.hash()?;
    if is_canonical(value) { Ok(value) } else { Err(Fault::at(offset, Problem::NotCanonical { value })) }
}

/// Where proofs stand.
#[derive(Clone, Copy)]
enum Form {
    Json,
    List,
    Bincode,
}

impl Proofs {
    /// Which of the two a proof is that starts so.
    pub(crate) fn sniff(start: &[u8]) -> Option<Self> {
        if post::is_sector(start) {
            Some(Self::Post(post::Sectors::default()))
        } else if snap::is_partition(start) {
            Some(Self::Snap(snap::Partitions::default()))
        } else {
            None
        }
    }

    /// Whether bytes that start so are a proof of either.
    pub(crate) fn recognises(start: &[u8]) -> bool {
        Self::sniff(start).is_some()
    }

    /// Says which of the two it is, by the first proof, where it is not said yet.
    /// Where it is, a proof that starts as the other is refused.
    fn tell(&mut self, window: &mut Window<'_>) -> Result<(), Fault> {
        let start = window.start(SNIFFED)?;
        let other = |found, expected| Err(Problem::OtherKind { found, expected });
        let told = match (&self, Self::sniff(start)) {
            (Self::Unknown, Some(proofs)) => {
                *self = proofs;
                Ok(())
            }
            (Self::Unknown, None) => Err(unknown(start)),
            (Self::Post(_), Some(Self::Snap(_))) => other("an update's proof", "a PoSt's"),
            (Self::Snap(_), Some(Self::Post(_))) => other("a PoSt's proof", "an update's"),
            _ => Ok(()),
        };
        told.map_err(|problem| window.fault(problem))
    }

    fn read(&mut self, bincode: &mut Bincode<'_>, i: usize) -> Result<(), Fault> {
        if i == self.limit() {
            return Err(Fault::at(bincode.offset(), Problem::TooMany { found: None, limit: i }));
        }
        match self {
            Self::Unknown => Ok(()),
            Self::Post(sectors) => sectors.read(bincode),
            Self::Snap(partitions) => partitions.read(bincode),
        }
    }

    /// The most that there may be.
    fn limit(&self) -> usize {
        match self {
            Self::Snap(_) => snap::MAX_PARTITIONS,
            _ => post::MAX_SECTORS,
        }
    }

    fn layer(&self, form: Form) -> Layer {
        match (self, form) {
            (Self::Unknown, _) => Layer::Json,
            (Self::Post(_), Form::Json) => Layer::Post(post::Encoding::Json),
            (Self::Post(_), Form::List) => Layer::Post(post::Encoding::List),
            (Self::Post(_), Form::Bincode) => Layer::Post(post::Encoding::Bincode),
            (Self::Snap(_), Form::Json) => Layer::Snap(snap::Encoding::Json),
            (Self::Snap(_), Form::List) => Layer::Snap(snap::Encoding::List),
            (Self::Snap(_), Form::Bincode) => Layer::Snap(snap::Encoding::Bincode),
        }
    }
}

/// Where something comes from that the input must agree with.
pub(crate) const GIVEN: &str = "the value given";
pub(crate) const REGISTERED: &str = "that of the registered proof";

/// What the input says of one thing, and what is known of it by another way.
pub(crate) fn agree<T: PartialEq>(
    name: &'static str,
    said: Option<T>,
    known: Option<T>,
    of: &'static str,
    show: impl Fn(&T) -> String,
) -> Result<Option<T>, Fault> {
    match (said, known) {
        (Some(said), Some(known)) if said != known => {
            Err(Fault::from(Problem::differs(show(&said), show(&known), of)).in_field(name))
        }
        (said, known) => Ok(said.or(known)),
    }
}
