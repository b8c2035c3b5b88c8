import { ApiError } from '../../api/api-error.ts';
import { apiPath } from '../../api/api-path.ts';
import { send, type Auth } from '../../api/send.ts';
import type { LoginMethod } from './login-method.ts';

/** One of the ways to meet a second factor. */
export interface Factor {
  readonly id: string;
  readonly type: string;
  readonly name: string;
  readonly uses_passcode: boolean;
}

/** A login that waits for a second factor: of each constraint, any one. */
export interface SecondFactor {
  readonly mfa_request_id: string;
  readonly mfa_constraints: Readonly<Record<string, { readonly any: readonly Factor[] }>>;
}

/** What a login brings: a token, or the question for a second factor. */
export type LoginAnswer = { readonly auth: Auth } | { readonly factor: SecondFactor };

/** Sends the fields of a form to where its method takes them. @throws ApiError */
export async function sendLogin(method: LoginMethod, fields: Readonly<Record<string, unknown>>): Promise<LoginAnswer> {
  const inPath = new Set<string>();
  const parts = method.login.split('/').map((part) => {
    const name = /^\{(\w+)\}$/.exec(part)?.[1];
    if (name === undefined) return part;
    inPath.add(name);
    return String(fields[name] ?? '');
  });
  const body = Object.fromEntries(
    Object.entries(fields).filter(([name, value]) => !inPath.has(name) && value !== undefined && value !== ''),
  );
  return answerOf(method.login, (await send('POST', apiPath(...parts), { body, token: null })).auth);
}

/** Gives the codes, by the id of their method. @throws ApiError */
export async function giveFactors(requestId: string, codes: Readonly<Record<string, string>>): Promise<LoginAnswer> {
  const payload = Object.fromEntries(Object.entries(codes).map(([id, code]) => [id, code === '' ? [] : [code]]));
  const answer = await send('POST', 'sys/mfa/validate', { body: { mfa_request_id: requestId, mfa_payload: payload }, token: null });
  return answerOf('sys/mfa/validate', answer.auth);
}

/** @throws ApiError for an answer that is no login */
export function answerOf(path: string, auth: Auth | null): LoginAnswer {
  if (auth?.mfa_requirement) return { factor: auth.mfa_requirement as SecondFactor };
  if (auth && auth.client_token !== '') return { auth };
  throw new ApiError({ status: 200, errors: ['The server accepted the login and sent no token.'], method: 'POST', path });
}
