// Colours for examples of the language, which mdBook's highlighter does not know. `eval` blocks are expressions.

"use strict";

hljs.registerLanguage("hcl", hljs => {
    const interpolation = { className: "subst", begin: /[$%]\{/, end: /\}/ };
    const string = { className: "string", begin: /"/, end: /"/, illegal: /\n/, contains: [hljs.BACKSLASH_ESCAPE, interpolation] };
    const heredoc = hljs.END_SAME_AS_BEGIN({
        className: "string",
        begin: /<<[-~]?(\w+)$/,
        end: /^[ \t]*(\w+)$/,
        contains: [interpolation],
    });
    const comments = [hljs.HASH_COMMENT_MODE, hljs.C_LINE_COMMENT_MODE, hljs.C_BLOCK_COMMENT_MODE];
    const blockType = { className: "keyword", begin: /^[ \t]*[a-z_]+(?=([ \t]+("[^"\n]*"|[\w-]+))*[ \t]*\{)/ };
    const argument = { className: "attr", begin: /[\w-]+(?=[ \t]*=(?![=>]))/ };
    const call = { className: "built_in", begin: /[a-z]\w*(::\w+)*(?=\()/ };
    const error = { begin: /=> error: /, end: /$/ };
    const keywords = { keyword: "for in if else endif endfor", literal: "true false null" };
    // A brace in an interpolation ends it, unless it belongs to an object.
    const object = { begin: /\{/, end: /\}/, keywords, contains: [string, call, "self"] };
    interpolation.keywords = keywords;
    interpolation.contains = [string, object, call];
    return { aliases: ["eval"], keywords, contains: [...comments, error, heredoc, string, blockType, argument, call, hljs.C_NUMBER_MODE] };
});

document.querySelectorAll("code.language-hcl, code.language-eval").forEach(block => hljs.highlightBlock(block));
