/** How a value must be written in a connection string. */
export type ConnectionUrlForm =
  /** `scheme://user:password@host/…`: percent-encoded. */
  | 'url'
  /** `host=… user=… password=…` (libpq): quoted where needed. */
  | 'keyword'
  /** Anything else, such as a Go MySQL DSN: as it is. */
  | 'plain';

/** What a connection string is filled with; `undefined` leaves its placeholder out. */
export interface ConnectionUrlValues {
  readonly username?: string | undefined;
  readonly password?: string | undefined;
}

/** The form that a connection string has. */
export function connectionUrlForm(url: string): ConnectionUrlForm {
  if (/^\s*[a-z][a-z0-9+.-]*:\/\//i.test(url)) return 'url';
  return /^\s*\w+\s*=/.test(url) && !url.includes(';') ? 'keyword' : 'plain';
}

/**
 * `template` with `{{username}}`, `{{name}}` and `{{password}}` replaced, escaped as `form` (by default its own) wants. With
 * `disableEscaping` the values go in as they are, for operators who have escaped them already.
 */
export function renderConnectionUrl(
  template: string,
  values: ConnectionUrlValues,
  options: { disableEscaping?: boolean | undefined; form?: ConnectionUrlForm } = {},
): string {
  const form = options.disableEscaping ? 'plain' : (options.form ?? connectionUrlForm(template));
  return template.replace(/('?)\{\{(username|name|password)\}\}/g, (_, quote: string, key: string) => {
    const value = (key === 'password' ? values.password : values.username) ?? '';
    if (form === 'url')
      return quote + encodeURIComponent(value).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
    if (form === 'plain') return quote + value;
    const escaped = value.replace(/[\\']/g, '\\$&');
    return quote || /^[^\s'\\]+$/.test(value) ? quote + escaped : `'${escaped}'`;
  });
}
