//! What messages are read, and how they are written.

use super::fields::fields;
use super::{Variants, assert_complete, check, load, variants};
use crate::catalogue::{Announced, Catalogue};
use crate::message::{
    self, About, Accepts, Asserted, Client, Control, Job, Kind, Note, Order, Presence, Question,
    Roll, Run,
};
use crate::outcome;
use crate::payload::BlobRef;
use crate::record::{Author, Ended, Record, State};
use jsonschema::Validator;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

variants! {
    About { Alive, Progress, Log, Ask, Unknown }
    Order { Look, Answer, Unknown }
    Kind { Elicitation, ElicitationUrl, Sampling, Roots, Unknown }
    State { Started, Suspended, Done }
    Ended { None, Started, Suspended }
    Author { Runner, Caller }
}

/// A kind of message: its file, and what the code makes of one.
struct Message {
    file: &'static str,
    read: fn(&[u8]) -> Result<Value, String>,
}

const MESSAGES: [Message; 7] = [
    Message { file: "job", read: read::<Job> },
    Message { file: "record", read: read::<Record> },
    Message { file: "note", read: read::<Note> },
    Message { file: "control", read: read::<Control> },
    Message { file: "presence", read: read::<Presence> },
    Message { file: "roll", read: read::<Roll> },
    Message { file: "catalogue", read: read::<Catalogue> },
];

/// Reads a message, and writes it again.
fn read<M: DeserializeOwned + Serialize>(bytes: &[u8]) -> Result<Value, String> {
    let message = message::read::<M>("it", bytes)?;
    Ok(serde_json::from_slice(&message::write(&message)).unwrap())
}

impl Message {
    fn vectors(&self) -> Vec<Value> {
        let mut file = load(&format!("vectors/{}.json", self.file));
        serde_json::from_value(file["vectors"].take()).unwrap()
    }

    fn schema(&self) -> Value {
        load(&format!("schemas/{}.json", self.file))
    }

    fn validator(&self) -> Validator {
        jsonschema::draft202012::new(&self.schema()).unwrap()
    }

    /// A message, and what the code makes of it.
    fn vector(&self, vector: &Value) -> Value {
        let (name, json) = (&vector["name"], &vector["json"]);
        match (self.read)(json.to_string().as_bytes()) {
            Ok(written) if written == *json => json!({ "name": name, "json": json }),
            Ok(written) => json!({ "name": name, "json": json, "written": written }),
            Err(error) => json!({ "name": name, "json": json, "refused": reason(&error) }),
        }
    }

    /// The messages that are read.
    fn read_ones(&self) -> Vec<Value> {
        let vectors = self.vectors();
        let read = vectors.into_iter().filter(|vector| vector.get("refused").is_none());
        read.map(|mut vector| vector["json"].take()).collect()
    }

    fn all<M: DeserializeOwned>(&self) -> Vec<M> {
        self.read_ones().into_iter().map(|json| serde_json::from_value(json).unwrap()).collect()
    }
}

/// A reason without the position in the text.
fn reason(error: &str) -> &str {
    let error = error.trim_start_matches("it cannot be read: ");
    error.split_once(" at line ").map_or(error, |(reason, _)| reason)
}

fn message(file: &str) -> &'static Message {
    MESSAGES.iter().find(|message| message.file == file).unwrap()
}

#[test]
fn messages_are_read_and_written_as_their_vectors_say() {
    for message in &MESSAGES {
        let vectors = message.vectors();
        let vectors: Vec<Value> = vectors.iter().map(|vector| message.vector(vector)).collect();
        check(&format!("vectors/{}.json", message.file), &json!({ "vectors": vectors }), 3);
    }
}

#[test]
fn schemas_accept_what_is_read_and_what_is_written_and_nothing_else() {
    for message in &MESSAGES {
        let validator = message.validator();
        for vector in message.vectors() {
            let is_read = vector.get("refused").is_none();
            let about = format!("{}: {}", message.file, vector["name"]);
            assert_eq!(validator.is_valid(&vector["json"]), is_read, "{about}");
            if let Some(written) = vector.get("written") {
                assert!(validator.is_valid(written), "{about}, as it is written");
            }
        }
    }
}

#[test]
fn a_newer_version_of_each_message_is_refused_with_both_versions() {
    for message in &MESSAGES {
        for mut json in message.read_ones() {
            json["v"] = 2.into();
            let error = (message.read)(json.to_string().as_bytes()).unwrap_err();
            let text =
                "it has version 2, and this program reads up to version 1; update the program";
            assert_eq!(reason(&error), text, "{}", message.file);
        }
    }
}

#[test]
fn an_unknown_member_of_each_message_is_ignored() {
    for message in &MESSAGES {
        for mut json in message.read_ones() {
            let known = (message.read)(json.to_string().as_bytes()).unwrap();
            json["member_of_a_newer_program"] = json!({ "any": 1 });
            assert_eq!((message.read)(json.to_string().as_bytes()).unwrap(), known);
            assert!(message.validator().is_valid(&json), "{}", message.file);
        }
    }
}

#[test]
fn each_variant_of_a_message_has_a_vector() {
    assert_complete(message("note").all::<Note>().into_iter().map(|note| note.about));
    assert_complete(message("control").all::<Control>().into_iter().map(|it| it.order));
    assert_complete(message("job").all::<Job>().into_iter().flat_map(|job| job.accepts.ask));
    let states = || message("record").all::<Record>().into_iter().map(|record| record.state);
    assert_complete(states());
    let done = states().filter_map(|state| match state {
        State::Done { by, was, .. } => Some((by, was)),
        _ => None,
    });
    let (authors, ended): (Vec<Author>, Vec<Ended>) = done.unzip();
    assert_complete(authors);
    assert_complete(ended);
}

/// The members at a path of all messages that are read. `*` is each item.
fn at<'a>(values: Vec<&'a Value>, path: &[&str]) -> Vec<&'a Value> {
    let Some((first, rest)) = path.split_first() else { return values };
    let step = |value: &'a Value| -> Vec<&'a Value> {
        match *first {
            "*" => value.as_array().into_iter().flatten().collect(),
            name => value.get(name).into_iter().collect(),
        }
    };
    at(values.into_iter().flat_map(step).collect(), rest)
}

#[test]
fn each_member_that_is_read_has_a_vector_and_is_in_the_schema() {
    let blob = fields::<BlobRef>();
    for (file, path, pointer, fields) in [
        ("job", "", "", fields::<Job>()),
        ("job", "run", "/properties/run", fields::<Run>()),
        ("job", "principal", "/properties/principal", fields::<Asserted>()),
        ("job", "accepts", "/properties/accepts", fields::<Accepts>()),
        ("job", "client", "/properties/client", fields::<Client>()),
        ("job", "arguments_blob", "/$defs/blob", blob),
        ("record", "", "", fields::<Record>()),
        ("record", "outcome_blob", "/$defs/blob", blob),
        ("presence", "", "", fields::<Presence>()),
        ("presence", "catalogue", "/$defs/blob", blob),
        ("roll", "", "", fields::<Roll>()),
        ("catalogue", "", "", fields::<Catalogue>()),
        ("catalogue", "tools/*", "/$defs/tool", fields::<Announced>()),
    ] {
        let (read, schema) = (message(file).read_ones(), message(file).schema());
        let path: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        let given = at(read.iter().collect(), &path);
        let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        let given: BTreeSet<String> = given.into_iter().flat_map(keys).collect();
        let documented = schema.pointer(&format!("{pointer}/properties")).map(keys).unwrap();
        let fields: BTreeSet<String> = fields.iter().map(|&field| field.to_owned()).collect();
        let documented: BTreeSet<String> = documented.into_iter().collect();
        assert_eq!(documented, fields, "the schema of {file} at `{pointer}`");
        assert!(
            fields.is_subset(&given),
            "{file}: no vector has all of {fields:?}, only {given:?}"
        );
    }
}

/// The members of notes and orders depend on their kinds, so no type names all of them.
#[test]
fn each_member_of_a_question_a_note_and_an_order_is_in_the_schema() {
    for file in ["note", "control"] {
        let schema = message(file).schema();
        let documented = schema["properties"].as_object().unwrap();
        for json in message(file).read_ones() {
            let written: Map<String, Value> =
                serde_json::from_value((message(file).read)(json.to_string().as_bytes()).unwrap())
                    .unwrap();
            for member in written.keys() {
                assert!(documented.contains_key(member), "{file}: `{member}`");
            }
        }
    }
    let schema = message("note").schema();
    for field in fields::<Question>() {
        assert!(schema["properties"].get(field).is_some(), "{field}");
    }
}

#[test]
fn outcomes_are_read_as_their_vectors_say() {
    let file = load("vectors/outcome.json");
    let vectors = file["vectors"].as_array().unwrap().iter().map(|vector| {
        let json = &vector["json"];
        let read = match outcome::read(&json.to_string()) {
            Ok(observation) => json!({ "ok": observation }),
            Err(error) => {
                json!({ "error": { "class": error.class(), "message": error.message() } })
            }
        };
        json!({ "name": vector["name"], "json": json, "read": read })
    });
    check("vectors/outcome.json", &json!({ "vectors": vectors.collect::<Vec<_>>() }), 3);
}

#[test]
fn the_schema_of_a_record_accepts_outcomes_as_they_are_written() {
    let validator = message("record").validator();
    let file = load("vectors/outcome.json");
    for vector in file["vectors"].as_array().unwrap() {
        let record = json!({ "v": 1, "state": "done", "round": 1, "nonce": "", "by": "runner:a.b", "outcome": vector["json"] });
        let is_outcome = vector["json"].get("ok").or(vector["json"].get("error")).is_some();
        assert_eq!(validator.is_valid(&record), is_outcome, "{}", vector["name"]);
    }
}
