//! Runs prompts, resources and completions: found, guarded and reported like a call.

mod governed;

use super::{execution, guard};
use crate::govern::{PROMPTS, RESOURCES};
use crate::pool::ToolPool;
use crate::schema::nearest;
use crate::tool::arguments::Arguments;
use crate::tool::context::ToolContext;
use crate::tool::offering::OfferingProperties;
use crate::tool::offering::completion::{Completion, CompletionContext};
use crate::tool::offering::prompt::{Prompt, PromptMessages};
use crate::tool::offering::resource::Resource;
use crate::tool::offering::text_arguments::TextArguments;
use crate::tool::results::observation::{mask_block, mask_contents};
use crate::vocabulary::content::ResourceContents;
use crate::vocabulary::error::{CallError, ErrorClass, excerpt};
use crate::vocabulary::future::BoxFuture;
use crate::vocabulary::mask;
use governed::{OfferingName, Requested};
use std::borrow::Cow;
use std::time::Duration;

impl ToolPool {
    /// Makes the messages of a prompt. Dropping the future cancels it.
    ///
    /// # Errors
    /// [`ErrorClass::NotFound`] for an unknown name, [`ErrorClass::Input`] for
    /// invalid arguments, and the errors of the prompt. [`ErrorClass::Denied`] and the like by policies, limits and
    /// approvers, to which it is a call of `prompts:NAME` that only reads.
    ///
    /// ```
    /// use tool_runtime::prelude::*;
    /// use tool_runtime::tool::TextArguments;
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let hello = Prompt::builder("hello", "Say hello.").handler(|| async { "Hello!" });
    /// let pool = ToolPool::builder().add_prompt(hello).build()?;
    /// let prompt = pool.get_prompt("hello", &TextArguments::new(), &pool.context()).await?;
    /// assert_eq!(prompt.messages[0].content.as_text(), Some("Hello!"));
    /// assert!(pool.get_prompt("helo", &TextArguments::new(), &pool.context()).await.is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub async fn get_prompt(
        &self,
        name: &str,
        arguments: &TextArguments,
        context: &ToolContext,
    ) -> Result<PromptMessages, CallError> {
        let prompt = match self.find_prompt(name) {
            Ok(prompt) => prompt,
            Err(unknown) => {
                let arguments = serde_json::json!(arguments).to_string();
                return Err(governed::unknown(
                    self,
                    OfferingName { kind: PROMPTS, name },
                    &arguments,
                    context,
                    unknown,
                )
                .await);
            }
        };
        let description = prompt.definition().description.clone();
        let messages = match self.has_governors() {
            true => self.governed_prompt(prompt, arguments, context).await,
            false => {
                let (limit, context) = self.bounds(prompt.terms(), context);
                let (arguments, own) = (arguments.clone(), context.clone().into_owned());
                let work = async move { prompt.run(&arguments, &own).await };
                run_offering(work, name, limit, &context).await
            }
        };
        let mut messages = messages.map_err(|error| self.governance().masked_error(error))?;
        let description = messages.description.get_or_insert(description);
        if let Some(mask) = &self.governance().mask {
            mask::in_place(&**mask, description);
            let messages = messages.messages.iter_mut();
            messages.for_each(|message| mask_block(&**mask, &mut message.content));
        }
        Ok(messages)
    }

    /// Reads a resource by its URI. Dropping the future cancels it.
    ///
    /// # Errors
    /// [`ErrorClass::NotFound`] for a URI that matches no resource or has no contents there,
    /// [`ErrorClass::Input`] for invalid variables, and the errors of the resource. [`ErrorClass::Denied`] and the like by
    /// policies, limits and approvers, to which it is a call of `resources:URI` that only reads.
    ///
    /// ```
    /// use tool_runtime::prelude::*;
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let config = Resource::builder("config://app", "config", "The configuration.")
    ///     .handler(|| async { "verbose = true" });
    /// let pool = ToolPool::builder().add_resource(config).build()?;
    /// let contents = pool.read_resource("config://app", &pool.context()).await?;
    /// assert_eq!(contents[0].text.as_deref(), Some("verbose = true"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub async fn read_resource(
        &self,
        uri: &str,
        context: &ToolContext,
    ) -> Result<Vec<ResourceContents>, CallError> {
        let Some((resource, captures)) = self.find_resource(uri) else {
            let arguments = serde_json::json!({ "uri": uri }).to_string();
            let unknown = nothing_at(uri);
            return Err(governed::unknown(
                self,
                OfferingName { kind: RESOURCES, name: uri },
                &arguments,
                context,
                unknown,
            )
            .await);
        };
        let contents = match self.has_governors() {
            true => self.governed_resource(resource, captures, uri, context).await,
            false => {
                let (limit, context) = self.bounds(resource.terms(), context);
                let (read, own) = (uri.to_owned(), context.clone().into_owned());
                let work = async move { resource.run(&read, &captures, &own).await };
                run_offering(work, uri, limit, &context).await
            }
        };
        let contents = contents.map_err(|error| self.governance().masked_error(error))?;
        let mut contents = contents.ok_or_else(|| nothing_at(uri))?;
        if let Some(mask) = &self.governance().mask {
            contents.iter_mut().for_each(|contents| mask_contents(&**mask, contents));
        }
        Ok(contents)
    }

    async fn governed_prompt(
        &self,
        prompt: Prompt,
        arguments: &TextArguments,
        context: &ToolContext,
    ) -> Result<PromptMessages, CallError> {
        let own = prompt.clone();
        let requested = Requested {
            name: OfferingName { kind: PROMPTS, name: prompt.name() },
            description: &prompt.definition().description,
            terms: prompt.terms(),
            source: self.current().source_of_prompt(prompt.name()).cloned(),
            arguments: serde_json::json!(arguments).to_string(),
        };
        governed::run(self, requested, context, |arguments, context| async move {
            own.run(&parse(&arguments)?, &context).await
        })
        .await
    }

    async fn governed_resource(
        &self,
        resource: Resource,
        captures: TextArguments,
        uri: &str,
        context: &ToolContext,
    ) -> Result<Option<Vec<ResourceContents>>, CallError> {
        let (own, read) = (resource.clone(), uri.to_owned());
        let requested = Requested {
            name: OfferingName { kind: RESOURCES, name: uri },
            description: &resource.definition().description,
            terms: resource.terms(),
            source: self.current().source_of_resource(resource.uri()).cloned(),
            arguments: serde_json::json!({ "uri": uri }).to_string(),
        };
        governed::run(self, requested, context, |arguments, context| async move {
            if parse(&arguments)? != TextArguments::from([("uri".to_owned(), read.clone())]) {
                let text = "the URI of a resource cannot be changed";
                return Err(CallError::new(ErrorClass::Input, text));
            }
            own.run(&read, &captures, &context).await
        })
        .await
    }

    /// Suggests values for an argument of a prompt.
    ///
    /// # Errors
    /// [`ErrorClass::NotFound`] for a name that no prompt has, [`ErrorClass::Input`] for an
    /// argument that it does not take.
    pub async fn complete_prompt(
        &self,
        name: &str,
        argument: &str,
        prefix: &str,
        context: &ToolContext,
    ) -> Result<Completion, CallError> {
        let prompt = self.find_prompt(name)?;
        let arguments = prompt.definition().arguments.iter().map(|argument| argument.name.as_str());
        check_argument(name, argument, arguments)?;
        self.complete(prompt, Prompt::terms, CompletionRequest { name, argument, prefix }, context)
            .await
    }

    /// Suggests values for a variable of a resource template.
    ///
    /// # Errors
    /// [`ErrorClass::NotFound`] for a template that is not in the pool, [`ErrorClass::Input`] for a
    /// variable that it does not have.
    pub async fn complete_resource(
        &self,
        template: &str,
        variable: &str,
        prefix: &str,
        context: &ToolContext,
    ) -> Result<Completion, CallError> {
        let snapshot = self.snapshot();
        let found = snapshot.resources().iter().find(|resource| resource.uri() == template);
        let resource = found.cloned().ok_or_else(|| nothing_at(template))?;
        let variables = resource.template().into_iter().flat_map(|template| template.variables());
        check_argument(template, variable, variables)?;
        let request = CompletionRequest { name: template, argument: variable, prefix };
        self.complete(resource, Resource::terms, request, context).await
    }

    async fn complete<O: Send + Sync + 'static>(
        &self,
        offering: O,
        terms: fn(&O) -> &OfferingProperties,
        request: CompletionRequest<'_>,
        context: &ToolContext,
    ) -> Result<Completion, CallError> {
        let (limit, context) = self.bounds(terms(&offering), context);
        let (argument, prefix) = (request.argument.to_owned(), request.prefix.to_owned());
        let own = context.clone().into_owned();
        let work = async move {
            let completers = &terms(&offering).completers;
            Ok(Completion::from_values(completers.complete(&argument, &prefix, &own).await))
        };
        let completion = run_offering(work, request.name, limit, &context).await;
        let mut completion = completion.map_err(|error| self.governance().masked_error(error))?;
        if let Some(mask) = &self.governance().mask {
            completion.values.iter_mut().for_each(|value| mask::in_place(&**mask, value));
        }
        Ok(completion)
    }

    fn find_prompt(&self, name: &str) -> Result<Prompt, CallError> {
        let snapshot = self.current();
        let prompts = snapshot.prompts();
        if let Ok(index) = prompts.binary_search_by(|prompt| prompt.name().cmp(name)) {
            return Ok(prompts[index].clone());
        }
        let near = nearest::nearest(name, prompts.iter().map(Prompt::name), 3);
        let hint = match near.as_slice() {
            [] => String::new(),
            near => format!("; did you mean `{}`?", near.join("` or `")),
        };
        let name = excerpt(name);
        Err(CallError::new(ErrorClass::NotFound, format!("unknown prompt `{name}`{hint}")))
    }

    /// The most specific resource that matches a URI, and the values of its variables.
    #[doc(hidden)]
    pub fn find_resource(&self, uri: &str) -> Option<(Resource, TextArguments)> {
        let snapshot = self.current();
        let fits = |resource: &Resource| Some((resource.clone(), resource.captures(uri)?));
        snapshot.resources().iter().find_map(fits)
    }

    /// The time limit, and a context that shows it. An offering is not a step.
    fn bounds<'a>(
        &self,
        terms: &OfferingProperties,
        context: &'a ToolContext,
    ) -> (Option<Duration>, Cow<'a, ToolContext>) {
        let limit = guard::limit_of(terms.timeout.or(self.governance().timeout), context);
        let context = match context.has_step() {
            true => Cow::Owned(context.clone().without_step()),
            false => Cow::Borrowed(context),
        };
        match limit {
            Some(within) => (limit, Cow::Owned(guard::within(within, &context))),
            None => (limit, context),
        }
    }
}

/// What is to be completed.
struct CompletionRequest<'a> {
    /// The name of the prompt, or the URI of the template.
    name: &'a str,
    argument: &'a str,
    prefix: &'a str,
}

/// The arguments of a call, which a person may have changed.
fn parse(arguments: &str) -> Result<TextArguments, CallError> {
    let parsed = Arguments::new(arguments).parse();
    parsed.map_err(|error| CallError::new(ErrorClass::Input, error.to_string()))
}

/// Runs a prompt or a resource. The future's output is erased, so that it is compiled once.
async fn run_offering<T: Send + 'static>(
    work: impl Future<Output = Result<T, CallError>> + Send + 'static,
    name: &str,
    limit: Option<Duration>,
    context: &ToolContext,
) -> Result<T, CallError> {
    // It may be a URI.
    let name = &*excerpt(name);
    let mut output = None;
    let work = Box::pin(async {
        output = Some(execution::of_offering(work, name, context).await?);
        Ok(())
    });
    run_guarded(work, name, limit, context).await?;
    output.ok_or_else(|| CallError::new(ErrorClass::Internal, internal(name)))
}

/// With a deadline, cancellation and panics handled as for a call.
async fn run_guarded(
    work: BoxFuture<'_, Result<(), CallError>>,
    name: &str,
    limit: Option<Duration>,
    context: &ToolContext,
) -> Result<(), CallError> {
    let within = async { guard::guarded(work, name, limit, context).await? };
    guard::catch_and_report(name, within).await.map_err(|error| match error.class() {
        ErrorClass::Internal => error.with_message(internal(name)),
        _ => error,
    })
}

fn internal(name: &str) -> String {
    format!("`{name}` failed for an internal reason, which has been logged")
}

fn nothing_at(uri: &str) -> CallError {
    CallError::new(ErrorClass::NotFound, format!("there is no resource `{}`", excerpt(uri)))
}

fn check_argument<'a>(
    of: &str,
    argument: &str,
    mut arguments: impl Iterator<Item = &'a str>,
) -> Result<(), CallError> {
    match arguments.any(|name| name == argument) {
        true => Ok(()),
        false => {
            let (of, argument) = (excerpt(of), excerpt(argument));
            let message = format!("`{of}` has no argument `{argument}`");
            Err(CallError::new(ErrorClass::Input, message))
        }
    }
}

impl ToolContext {
    /// For a completion: the values of the other arguments.
    #[doc(hidden)]
    pub fn with_given(self, arguments: TextArguments) -> Self {
        if arguments.is_empty() { self } else { self.with(CompletionContext::new(arguments)) }
    }
}
