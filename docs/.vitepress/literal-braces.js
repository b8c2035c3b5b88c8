/** Our pages have no expressions of Vue: `{{name}}` is text, in code and in sentences. */
export function literalBraces(md) {
  const { code_inline: code, text } = md.renderer.rules;
  md.renderer.rules.code_inline = (tokens, at, ...rest) => {
    tokens[at].attrSet('v-pre', '');
    return code(tokens, at, ...rest);
  };
  md.renderer.rules.text = (...args) => text(...args).replaceAll('{{', '&#123;&#123;');
}
