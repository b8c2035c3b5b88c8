import { answerForm, compileSchema, mayBeEmpty } from '@strongroom/engine-sdk';
import { declaredStatuses, type AnsweredCall, type CoreResponse } from '@strongroom/core';
import type { TSchema } from 'typebox';
import { closedSchema } from './closed-schema.ts';

/** Compares what operations answer with what they declare. */
export class AnswerCheck {
  readonly #problems: string[] = [];

  /** For `CoreOptions.onAnswer`. An operation that declares nothing is taken as it is. */
  readonly onAnswer = (answered: AnsweredCall): void => {
    const { operation, path, op, answer } = answered;
    if (!op.response) return;
    const problem = undeclaredStatus(answered) ?? (answer.errors ? undefined : bodyProblem(op.response, answered));
    if (problem !== undefined) this.#problems.push(`${operation} ${path} does not answer as it declares: ${problem}`);
  };

  /** @throws Error for what was answered otherwise than declared since the last call */
  require(): void {
    if (this.#problems.length > 0) throw new Error(this.#problems.splice(0).join('\n'));
  }
}

function undeclaredStatus(answered: AnsweredCall): string | undefined {
  const { status } = answered.answer;
  const declared = declaredStatuses(answered);
  return declared.has(String(status)) || declared.has('default') ? undefined : `its status is ${status}`;
}

/** A status of its own may have a shape of its own. */
function bodyProblem(response: TSchema, { op: { answers = {} }, answer }: AnsweredCall): string | undefined {
  const own = Object.hasOwn(answers, answer.status) ? answers[answer.status] : undefined;
  return own && problemOf(own, answer) === undefined ? undefined : problemOf(response, answer);
}

function problemOf(schema: TSchema, { status, data, auth, pendingAuth, leaseId, raw: body, stream }: CoreResponse): string | undefined {
  // A refusal with a body of its own.
  if (body && status >= 400) return undefined;
  if (stream) {
    const declared = answerForm(schema)?.contentTypes ?? [];
    return declared.includes(stream.contentType) ? undefined : `it streams ${stream.contentType}`;
  }
  const raw = body && body.body.length > 0 ? body : undefined;
  const form = answerForm(schema);
  const empty = (data ?? null) === null && !auth && !pendingAuth && leaseId === '' && !raw;
  switch (form?.kind) {
    case 'any':
      return undefined;
    case 'none':
    case 'warned':
    case 'refusal':
      return empty ? undefined : 'it declares no content, and has some';
    case 'token':
      return auth || pendingAuth ? undefined : 'there is no token in it';
    case 'raw':
      // The caller has the body already.
      if (status === 304) return undefined;
      if (!raw || !form.contentTypes!.includes(raw.contentType)) return `its body is ${raw?.contentType ?? 'an envelope'}`;
      return Object.keys(schema).length > 1 ? compileSchema(closedSchema(schema))(JSON.parse(String(raw.body))) : undefined;
    case 'lease':
      if (leaseId === '') return 'there is no lease in it';
      if (Object.keys(schema).every((key) => key.startsWith('x-'))) return undefined;
      break;
    case undefined:
  }
  if (raw) return `its body is ${raw.contentType}`;
  if (auth || pendingAuth) return 'there is a token in it';
  if (leaseId !== '' && form?.kind !== 'lease') return 'there is a lease in it';
  // A write that reports nothing but warnings, and a refusal with a body, such as one that is sealed.
  if (empty && (mayBeEmpty(schema) || status === 404)) return undefined;
  if (empty) return 'it is empty';
  // As it is on the wire: without what is undefined, and dates as text.
  return compileSchema(closedSchema(schema))(JSON.parse(JSON.stringify(data)));
}
