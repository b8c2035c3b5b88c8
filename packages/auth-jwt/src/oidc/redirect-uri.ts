const LOOPBACK_PORT = /^(https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])):\d{1,5}(?=[/?#]|$)/;

/**
 * Whether the provider may send the browser there: the text is one of the allowed ones. The port of a loopback address does not matter, since programs listen
 * where they can (RFC 8252); `localhost` and `127.0.0.1` are different names.
 */
export function isAllowedRedirect(uri: string, allowed: readonly string[]): boolean {
  return allowed.some((one) => one === uri || withoutPort(one) === withoutPort(uri));
}

function withoutPort(uri: string): string {
  return uri.replace(LOOPBACK_PORT, '$1');
}

/** Takes `namespace` out of the query of an address: a browser comes back without it, and the state carries it instead. */
export function takeNamespace(uri: string): { readonly uri: string; readonly namespace: string } {
  const url = URL.canParse(uri) ? new URL(uri) : undefined;
  const namespace = url?.searchParams.get('namespace') ?? '';
  if (!url || namespace === '') return { uri, namespace: '' };
  url.searchParams.delete('namespace');
  return { uri: url.href, namespace };
}
