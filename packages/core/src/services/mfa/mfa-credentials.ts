import { BadRequest } from '@strongroom/engine-sdk';

/** What a caller supplies to prove second factors: codes by the id or name of a method. */
export type MfaCredentials = ReadonlyMap<string, readonly string[]>;

/** `METHOD:CODE`, or several with commas between them. Undefined where the header says nothing. */
export function credentialsOfHeader(header: string | readonly string[] | undefined): MfaCredentials | undefined {
  const parts = [header ?? []]
    .flat()
    .flatMap((value) => value.split(','))
    .map((part) => part.trim())
    .filter((part) => part !== '');
  if (parts.length === 0) return undefined;
  const credentials = new Map<string, string[]>();
  for (const part of parts) {
    const colon = part.indexOf(':');
    const method = colon < 0 ? part : part.slice(0, colon);
    const codes = credentials.get(method) ?? [];
    if (colon >= 0) codes.push(part.slice(colon + 1));
    credentials.set(method, codes);
  }
  return credentials;
}

/** `{METHOD: [CODE]}`. @throws BadRequest */
export function credentialsOfPayload(payload: Readonly<Record<string, unknown>>): MfaCredentials {
  const credentials = new Map<string, readonly string[]>();
  for (const [method, codes] of Object.entries(payload)) {
    if (!Array.isArray(codes) || !codes.every((code): code is string => typeof code === 'string'))
      throw new BadRequest('invalid mfa payload');
    credentials.set(method, codes);
  }
  return credentials;
}

/** The one code supplied for a method; undefined for none, and for several, which would be several guesses. */
export function codeFor(credentials: MfaCredentials, { id, name }: { readonly id: string; readonly name: string }): string | undefined {
  const [code, ...others] = suppliedFor(credentials, { id, name }) ?? [];
  return others.length === 0 ? code?.trim().replace(/^passcode=/, '') : undefined;
}

/** What was supplied for a method: undefined where it is not named at all. */
export function suppliedFor(
  credentials: MfaCredentials,
  { id, name }: { readonly id: string; readonly name: string },
): readonly string[] | undefined {
  return credentials.get(id) ?? (name === '' ? undefined : credentials.get(name));
}
