use super::*;
use crate::test_time::ends;
use std::cell::Cell;

fn url() -> Url {
    Url::parse("https://site.example/docs/page").unwrap()
}

fn markdown_of(html: &str) -> Converted {
    markdown(html, &url(), &AtomicBool::new(false))
}

#[test]
fn a_page_becomes_markdown_with_absolute_links_and_without_scripts() {
    let page = markdown_of(
        "<html><head><title> The\n title </title><style>p{}</style><script>var x = '<p>no</p>'</script></head>
        <body><h1>Head &amp; more</h1><p>Some <b>bold</b>, <a href='../a?b=1'>a link</a>, caf&eacute;.</p>
        <ul><li>one<li>two</ul><pre><code class=language-rust>let x = 1;</code></pre>
        <table><tr><th>A<th>B<tr><td>1<td>2</table><img src=data:image/png;base64,AAAA alt=inline>
        <img src=i.png alt=pic><p hidden>secret</p><noscript>plain</noscript></body></html>",
    );
    assert_eq!(page.title.as_deref(), Some("The title"));
    for expected in [
        "# Head & more",
        "Some **bold**, [a link](https://site.example/a?b=1), café.",
        "- one\n- two",
        "```rust\nlet x = 1;\n```",
        "| A | B |\n| - | - |\n| 1 | 2 |",
        "![pic](https://site.example/docs/i.png)",
        "plain",
    ] {
        assert!(page.text.contains(expected), "{expected:?} is not in\n{}", page.text);
    }
    for unexpected in ["<", "var x", "p{}", "secret", "AAAA"] {
        assert!(!page.text.contains(unexpected), "{unexpected:?} is in\n{}", page.text);
    }
}

#[test]
fn text_that_a_style_hides_is_left_out() {
    let html = "<body style='visibility:hidden'><p>Seen.</p><p style='color:red;DISPLAY : none'>hidden-a</p>
        <div style='visibility: hidden !important'><b>hidden-b</b></div><p style=display:block>Also seen.</p>
        <p style='--display: none'>Seen too.</p><p hidden>hidden-c</p></body>";
    let stop = AtomicBool::new(false);
    for page in [markdown_of(html), text(html, &url(), &stop)] {
        assert!(!page.text.contains("hidden"), "{}", page.text);
        for expected in ["Seen.", "Also seen.", "Seen too."] {
            assert!(page.text.contains(expected), "{expected} is not in {}", page.text);
        }
    }
}

#[test]
fn items_of_a_task_list_say_whether_they_are_done() {
    let html = "<ul class=contains-task-list><li class=task-list-item><input type=checkbox disabled checked> Build</li>
        <li><label><input type=checkbox>Test</label></li><li><p><input type=checkbox checked=''> Ship</p></li>
        <li><a href=/x>Menu</a><input type=checkbox></li></ul>";
    let page = markdown_of(html).text;
    for expected in ["- ☑ Build", "- ☐ Test", "- ☑ Ship", "- [Menu](https://site.example/x)"]
    {
        assert!(page.contains(expected), "{expected} is not in\n{page}");
    }
    assert_eq!(page.matches(['☑', '☐']).count(), 3, "{page}");
    let text = text(html, &url(), &AtomicBool::new(false)).text;
    assert!(text.contains("☑ Build") && text.contains("☐ Test"), "{text}");
}

#[test]
fn elements_that_begin_a_line_are_not_run_together() {
    let html =
        "<dl><dt>Term</dt><dd>Definition</dd></dl><details><summary>Title</summary>Text</details>
        <button>OK</button><button>Cancel</button><label>Name</label><label>Mail</label>
        <dialog>closed</dialog><dialog open>open</dialog>";
    let expected = ["Term", "Definition", "Title", "Text", "OK", "Cancel", "Name", "Mail", "open"];
    for page in [markdown_of(html), text(html, &url(), &AtomicBool::new(false))] {
        assert_eq!(page.text.split_whitespace().collect::<Vec<_>>(), expected, "{}", page.text);
    }
}

#[test]
fn the_main_part_of_an_article_is_returned_and_text_has_all() {
    let words = "This is a sentence of the article, with commas, that readers want. ".repeat(12);
    let menu = "<li><a href=/x>Menu entry</a></li>".repeat(60);
    let html = format!(
        "<title>T</title><body><nav><ul>{menu}</ul></nav><article><h1>T</h1><p>{words}</p><p>{words}</p></article>
        <footer>Imprint</footer></body>"
    );
    let page = markdown_of(&html);
    assert!(page.text.contains("sentence of the article") && !page.text.contains("Menu entry"));
    assert!(page.notice.unwrap().contains("main part"));
    let whole = text(&html, &url(), &AtomicBool::new(false));
    assert!(whole.text.contains("Menu entry") && whole.text.contains("Imprint"));
    assert_eq!(whole.notice, None);
}

#[test]
fn a_page_of_links_is_returned_whole() {
    let html = "<li><a href=/x>Menu entry</a></li>".repeat(60);
    let page = markdown_of(&html);
    assert_eq!((page.text.matches("Menu entry").count(), page.notice), (60, None));
}

#[test]
fn a_base_changes_links() {
    let page = markdown_of("<base href='https://other.example/'><a href=x>y</a>");
    assert_eq!(page.text, "[y](https://other.example/x)");
}

#[test]
fn a_long_base_and_a_long_title_do_not_multiply_the_page() {
    let (long, base) = ("t".repeat(100_000), "x".repeat(100_000));
    let links = "<p>word, word, <a href=y>z</a>".repeat(1000);
    let html = format!("<title>{long}</title><base href='//{base}'>{links}");
    for page in [markdown_of(&html), text(&html, &url(), &AtomicBool::new(false))] {
        assert_eq!(page.title.unwrap().len(), MAX_TITLE);
        assert!(page.text.len() < 2 * MAX_LINKS, "{}", page.text.len());
        assert_eq!(page.text.matches('z').count(), 1000);
    }
}

/// Each of these takes minutes, gigabytes or the stack without limits.
#[test]
fn hostile_pages_end_soon_and_leave_the_stack() {
    let formatted: String = (0..250).map(|number| format!("<b i={number}>")).collect();
    let attributes: String = (0..200_000).map(|number| format!("a{number} ")).collect();
    let balanced = |tag: &str| {
        format!("{}x{}", format!("<{tag}>").repeat(340), format!("</{tag}>").repeat(340))
    };
    let pages = [
        ("depth", "<div>".repeat(500_000)),
        ("bold", balanced("b")),
        ("quotes", balanced("blockquote")),
        ("spans", balanced("span")),
        ("quotes before a table", "<table>".to_owned() + &"<blockquote>".repeat(20_000)),
        ("bold before a table", "<table>".to_owned() + &"<b>".repeat(3_000)),
        ("spans before a table", format!("<table><tr>{}x", "<span>".repeat(3_000))),
        ("lists", "<ul><li>".repeat(100_000)),
        ("tables", "<table><tr><td>".repeat(100_000)),
        ("reconstructed", formatted + &"<p>x".repeat(500_000)),
        ("attributes", format!("<a {attributes}>x</a>")),
        ("comments", "<!--".repeat(500_000)),
        ("entities", "&amp;".repeat(200_000)),
    ];
    let work = |name, html: String| {
        assert!(pieces(&html) <= MAX_PIECES + 1, "{name}");
        let length = ends(move || {
            let page = markdown_of(&html);
            text(&html, &url(), &AtomicBool::new(false));
            page.text.len()
        });
        assert!(length < 20_000_000, "{name}");
    };
    // The last one of the tests that takes long uses all processors.
    std::thread::scope(|scope| {
        for (name, html) in pages {
            scope.spawn(move || work(name, html));
        }
    });
}

/// Pieces that may be parsed in the time of [`pieces`].
const MAX_PIECES: u32 = 50;

/// The pieces of a page that are parsed until a limit is reached, if each takes the same time.
fn pieces(html: &str) -> u32 {
    let count = Cell::new(0);
    let time = || {
        count.set(count.get() + 1);
        MAX_TIME * count.get() / MAX_PIECES
    };
    let (document, _) = parse_by(html, &AtomicBool::new(false), time);
    assert!(document.tree.len() < 2 * MAX_NODES, "{}", document.tree.len());
    count.get()
}

#[test]
fn a_stopped_conversion_ends() {
    let page = markdown(&"<p>word</p>".repeat(100_000), &url(), &AtomicBool::new(true));
    assert!(page.text.len() < 2 * PIECE && page.notice.unwrap().contains("left out"));
}
