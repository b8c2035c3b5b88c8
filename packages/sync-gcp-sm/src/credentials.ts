/** A service account's key, of which only these parts are used. */
export interface ServiceAccountKey {
  readonly type: 'service_account';
  readonly client_email: string;
  readonly private_key: string;
  readonly private_key_id?: string;
  readonly project_id?: string;
}

/** What is wrong with the text of a connection's credentials; undefined if nothing is, or if there are none. Shows no part of them. */
export function credentialsFault(text: string | undefined): string | undefined {
  if (!text) return undefined;
  if (text.trimStart().startsWith('@'))
    return 'credentials must be the JSON text itself: "@file" is for command lines, which read the file';
  const key = parse(text);
  if (key === undefined) return 'credentials must be the JSON text of a service account key';
  if (key['type'] !== 'service_account') {
    // Others name files, programs and addresses that the server would have to open for whoever writes a destination.
    return 'credentials must be of type "service_account"; to act as another account, give service_account_email';
  }
  if (typeof key['client_email'] !== 'string' || typeof key['private_key'] !== 'string') {
    return 'credentials lack client_email or private_key';
  }
  return undefined;
}

/** Of text that `credentialsFault` finds nothing wrong with. */
export function parseCredentials(text: string): ServiceAccountKey {
  return parse(text) as unknown as ServiceAccountKey;
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
