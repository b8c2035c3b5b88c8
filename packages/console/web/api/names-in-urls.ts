/**
 * How names stand in the console's addresses: as they are, but for white space at their ends, which routers trim. It is written `~` and two hexadecimal digits,
 * and so is `~` itself; wider white space has `~u` and four.
 */
export function toUrl(name: string): string {
  return name.replaceAll('~', '~7e').replace(/^\s+|\s+$/g, (space) => [...space].map(written).join(''));
}

/** The inverse of `toUrl`. */
export function fromUrl(text: string): string {
  return text.replace(/~(?:u([0-9a-f]{4})|([0-9a-f]{2}))/g, (_whole, long: string | undefined, short: string) =>
    String.fromCharCode(Number.parseInt(long ?? short, 16)),
  );
}

function written(space: string): string {
  const hex = space.charCodeAt(0).toString(16);
  return hex.length > 2 ? `~u${hex.padStart(4, '0')}` : `~${hex.padStart(2, '0')}`;
}

const segment = (name: string): string => encodeURIComponent(toUrl(name));

/**
 * The address of a page. `$name` in the pattern takes one parameter as one segment, slashes encoded (a mount); a closing `$` takes the parameter `rest`, whose
 * slashes stand as they are. Search parameters that are undefined are left out.
 */
export function pageUrl(
  pattern: string,
  params: Readonly<Record<string, string>> = {},
  search: Readonly<Record<string, string | number | boolean | undefined>> = {},
): string {
  const path = pattern
    .split('/')
    .map((part) => {
      if (part === '$') return (params.rest ?? '').split('/').map(segment).join('/');
      if (part.startsWith('$')) return segment(params[part.slice(1)] ?? '');
      return part;
    })
    .join('/');
  const query = new URLSearchParams(
    Object.entries(search).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  ).toString();
  return query === '' ? path : `${path}?${query}`;
}
