import type { ApiClient } from '../client.ts';
import { ApiFailure, doing, Failure } from '../failure.ts';
import type { Invocation } from '../invocation.ts';
import { isRecord } from '../json.ts';
import type { Secret } from '../secret.ts';

/** What a login still has to prove: every constraint, each by any of its methods. */
export interface MfaRequirement {
  readonly requestId: string;
  readonly constraints: readonly { readonly name: string; readonly methods: readonly MfaMethod[] }[];
}

interface MfaMethod {
  readonly id: string;
  /** '' for none. */
  readonly name: string;
  readonly type: string;
}

const TRIES = 3;

/** Undefined for a login that is complete. */
export function mfaRequirementOf(secret: Secret | undefined): MfaRequirement | undefined {
  const auth = secret?.envelope['auth'];
  const requirement = isRecord(auth) ? auth['mfa_requirement'] : undefined;
  if (!isRecord(requirement) || !isRecord(requirement['mfa_constraints'])) return undefined;
  return {
    requestId: text(requirement['mfa_request_id']),
    constraints: Object.entries(requirement['mfa_constraints']).map(([name, constraint]) => ({
      name: text(name),
      methods: records(isRecord(constraint) ? constraint['any'] : undefined).map((method) => ({
        id: text(method['id']),
        name: text(method['name']),
        type: text(method['type']),
      })),
    })),
  };
}

/**
 * Asks for the code where there is one constraint with one method, and completes the login with it.
 * @throws Failure that says how to go on where nobody can be asked, or where there is a choice
 */
export async function completeLogin(
  requirement: MfaRequirement,
  { client, ask, warn }: { readonly client: ApiClient; readonly ask: Invocation['ask']; readonly warn: (line: string) => void },
): Promise<Secret | undefined> {
  const { requestId, constraints } = requirement;
  const [method, ...others] = constraints.flatMap(({ methods }) => methods);
  if (method === undefined || others.length > 0) throw new Failure(howToGoOn(requirement));
  for (let tries = 1; ; tries += 1) {
    const code = await ask(`Code of ${shown(method)} (will be hidden): `, howToGoOn(requirement));
    const body = { mfa_request_id: requestId, mfa_payload: { [method.id]: [code] } };
    try {
      return await doing('Error authenticating', client.secret('PUT', 'sys/mfa/validate', { body }));
    } catch (error) {
      if (!(error instanceof ApiFailure) || error.status !== 403 || tries === TRIES) throw error;
      warn(`The code was not accepted: ${reasonOf(error)}`);
    }
  }
}

/** The first reason of a list of them, or the whole text. */
function reasonOf({ errors }: ApiFailure): string {
  const all = errors.join('; ');
  return /\* (.+)/.exec(all)?.[1] ?? all;
}

/** What the user does to complete the login without being asked. */
function howToGoOn({ requestId, constraints }: MfaRequirement): string {
  const mfa_payload = Object.fromEntries(constraints.flatMap(({ methods }) => methods.slice(0, 1)).map(({ id }) => [id, ['CODE']]));
  // It stands between quotes in a shell.
  const body = JSON.stringify({ mfa_request_id: requestId, mfa_payload }).replaceAll("'", '\\u0027');
  return [
    'The login needs a second factor, and is not complete.',
    '',
    `Request id: ${requestId}`,
    ...constraints.map(({ name, methods }) => `Enforcement ${name}: a code of ${methods.map(shown).join(', or of ')}`),
    '',
    'Complete it within five minutes, and log in with the token that this prints:',
    '',
    `    echo '${body}' | strongroom write sys/mfa/validate -`,
  ].join('\n');
}

function shown({ id, name, type }: MfaMethod): string {
  return name === '' ? `the ${type} method ${id}` : `the ${type} method ${name} (${id})`;
}

/** What a server sent, for a terminal: without what would move its cursor. */
function text(value: unknown): string {
  return typeof value === 'string' ? value.replace(/\p{Cc}/gu, '?') : '';
}

function records(value: unknown): readonly Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}
