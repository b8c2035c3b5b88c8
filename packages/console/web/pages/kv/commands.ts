/** A word as a shell takes it. */
export function shellWord(text: string): string {
  return /^[\w@%+:,./-]+$/.test(text) || text === '' ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** The call with curl. `path` is encoded; the body stands as it is sent. */
export function curlOf(method: string, path: string, body?: string): string {
  const verb = method === 'GET' ? '' : ` -X ${method}`;
  const sent = body === undefined ? '' : ` -d ${shellWord(body)}`;
  return `curl -H "X-Vault-Token: $STRONGROOM_TOKEN"${verb}${sent} "$STRONGROOM_ADDR/v1/${path}"`;
}
