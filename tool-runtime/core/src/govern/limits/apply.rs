//! Applies the limits in order.

use super::spill::Spill;
use super::{OutputLimits, media, resource, structured, text};
use crate::tool::results::observation::Observation;
use crate::vocabulary::content::ContentBlock;
use tokio::runtime::Handle;

impl OutputLimits {
    /// Returns the observation within the limits. An observation within the limits is unchanged, so
    /// that this is idempotent. Files are written on the blocking pool, if there is one.
    pub(crate) async fn apply(&self, observation: Observation, tool: &str) -> Observation {
        if !self.are_exceeded_by(&observation) {
            return observation;
        }
        match Handle::try_current() {
            Ok(runtime) if self.directory.is_some() => {
                self.cut_elsewhere(observation, tool, &runtime).await
            }
            _ => self.cut(observation, tool),
        }
    }

    /// Whether there is anything to cut. Allocates nothing.
    pub(crate) fn are_exceeded_by(&self, observation: &Observation) -> bool {
        let blocks = observation.content();
        structured::exceeds(observation, self.structured)
            || text::exceeds(blocks, self.text)
            || blocks.iter().any(|block| self.is_exceeded_by(block))
    }

    fn is_exceeded_by(&self, block: &ContentBlock) -> bool {
        media::exceeds(block, self.media) || resource::exceeds(block, self.resource)
    }

    /// A runtime that shuts down spawns no tasks: then no file is written, and the content is kept.
    async fn cut_elsewhere(
        &self,
        observation: Observation,
        tool: &str,
        runtime: &Handle,
    ) -> Observation {
        let (limits, copy, name) = (self.clone(), observation.clone(), tool.to_owned());
        let cut = runtime.spawn_blocking(move || limits.cut(copy, &name));
        match cut.await {
            Ok(cut) => cut,
            Err(_) => Self { directory: None, ..self.clone() }.cut(observation, tool),
        }
    }

    /// Strings come last, as they include the notices for other content.
    pub(crate) fn cut(&self, observation: Observation, tool: &str) -> Observation {
        let spill = Spill::new(self.directory.as_deref(), tool);
        let observation = structured::apply_limit(observation, self.structured, &spill);
        observation.map_content(|blocks| {
            let limited = |block| {
                let block = media::apply_limit(block, self.media, &spill);
                resource::apply_limit(block, self.resource, &spill)
            };
            text::apply_limit(blocks.into_iter().map(limited).collect(), self.text, &spill)
        })
    }
}
