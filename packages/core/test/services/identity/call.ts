import { compileDecoder, type AnyPath, type EngineRequest, type EngineResponse, type Operation } from '@strongroom/engine-sdk';
import { replyOf } from '../../../src/services/caller/internal-request.ts';

export interface Answer {
  readonly status: number;
  readonly data: unknown;
  readonly errors?: readonly string[];
}

/** Calls a path the way the router does, down to the status: for paths that need no mount, token or policy. */
export async function call(
  paths: readonly AnyPath[],
  operation: Exclude<Operation, 'create' | 'patch'>,
  path: string,
  body: Record<string, unknown> = {},
): Promise<Answer> {
  const matches = paths.flatMap((declared) => {
    const captures = match(declared.pattern, path);
    return captures ? [{ declared, captures }] : [];
  });
  const hit = matches.find(({ captures }) => Object.keys(captures).length === 0) ?? matches[0];
  const op = hit?.declared.operations[operation];
  if (!hit || !op) return { status: hit ? 405 : 404, data: null, errors: [] };
  try {
    const decoded = compileDecoder(hit.declared.about.fields as Parameters<typeof compileDecoder>[0])(body, hit.captures);
    const answer: EngineResponse | undefined = await op.handle({
      operation,
      path,
      verbatim: hit.captures,
      data: decoded.data,
      supplied: decoded.supplied,
      raw: body,
    } as unknown as EngineRequest);
    const missing = operation === 'read' || operation === 'list' ? 404 : 204;
    const own = answer && replyOf(answer);
    return { status: own?.status ?? (answer ? (answer.status ?? 200) : missing), data: own?.data ?? answer?.data ?? null };
  } catch (error) {
    const { status, errors } = error as { status?: number; errors?: string[] };
    if (status === undefined || errors === undefined) throw error;
    return { status, data: null, errors };
  }
}

function match(pattern: string, path: string): Record<string, string> | undefined {
  const names: string[] = [];
  const source = pattern.replace(/\{(\w+)(?::(\w+))?\}/g, (_, name: string, kind: string | undefined) => {
    names.push(name);
    return kind === 'all' ? '(.+)' : kind === 'any' ? '([^/]+)' : '(\\w(?:[\\w.-]*\\w)?)';
  });
  const found = new RegExp(`^${source}$`, 's').exec(path);
  return found ? Object.fromEntries(names.map((name, at) => [name, found[at + 1]!])) : undefined;
}
