import type { AnyPath, EngineRequest, EngineResponse, Operation } from '@strongroom/engine-sdk';
import { PathRouter } from '../../../src/kernel/mounts/path-router.ts';

export interface Answer {
  readonly status: number;
  readonly data?: unknown;
  readonly warnings?: readonly string[] | undefined;
  readonly errors?: readonly string[];
}

/** Calls a declared path through the router and the decoder; the statuses are those of the wire. */
export async function call(
  paths: readonly AnyPath[],
  operation: Exclude<Operation, 'create'>,
  path: string,
  body: Record<string, unknown> = {},
): Promise<Answer> {
  const match = new PathRouter(paths).match(path);
  if (!match) return { status: 404, errors: ['unsupported path'] };
  const op = match.path.declaration.operations[operation];
  if (!op) return { status: 405, errors: ['unsupported operation'] };
  try {
    const { data, supplied } = match.path.decode(body, match.captures);
    const request = { operation, path: match.canonical, verbatim: match.verbatim, data, supplied, raw: body } as unknown as EngineRequest;
    const answer: EngineResponse | undefined = await op.handle(request);
    if (!answer) return { status: operation === 'read' || operation === 'list' ? 404 : 204, errors: [] };
    return { status: answer.status ?? 200, data: answer.data, warnings: answer.warnings };
  } catch (error) {
    const { status, errors } = error as { status?: number; errors?: string[] };
    if (status === undefined || errors === undefined) throw error;
    return { status, errors };
  }
}
