/** Whether an address is among those of a client, as it stands there. On the loopback interface the port is free: programs take any. */
export function isRedirectOf(uris: readonly string[], asked: string): boolean {
  if (uris.includes(asked)) return true;
  const wanted = withoutLoopbackPort(asked);
  return wanted !== undefined && uris.some((uri) => withoutLoopbackPort(uri) === wanted);
}

/** Undefined for what is no plain-HTTP address on the loopback interface. */
function withoutLoopbackPort(uri: string): string | undefined {
  const found = /^(http:\/\/(?:127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\]))(?::\d{1,5})?((?:[/?#].*)?)$/.exec(uri);
  return found ? found[1]! + found[2]! : undefined;
}
