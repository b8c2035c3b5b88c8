/** A declared path in the console's addresses: `{name}` is written `:name`, since routers give braces a meaning of their own. */
export function templateToUrl(template: string): string {
  return template.replaceAll(/\{(\w+)\}/g, ':$1');
}

/** The inverse of `templateToUrl`. */
export function templateFromUrl(text: string): string {
  return text.replaceAll(/(^|\/):(\w+)/g, '$1{$2}');
}
