import { ExternalServiceError } from '@strongroom/sync-sdk';
import { type Dispatcher, request } from 'undici';
import { VercelRefusal } from './provider-error.ts';

/** A variable as Vercel tells of it; values are encrypted, or left out, and never read here. */
export interface Variable {
  readonly id: string;
  readonly key: string;
  readonly type: string;
  readonly target: readonly string[];
  readonly comment?: string;
  readonly gitBranch?: string;
  readonly customEnvironmentIds?: readonly string[];
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface VariableWrite {
  readonly key: string;
  readonly value: string;
  readonly type: 'sensitive' | 'encrypted';
  readonly target: readonly string[];
  readonly comment: string;
}

export interface VercelApiOptions {
  readonly endpoint: string;
  readonly token: string;
  readonly projectId: string;
  readonly teamId: string | undefined;
  readonly dispatcher: Dispatcher;
}

const TIMEOUT_MS = 60_000;

/** The four calls on environment variables of a project. Each rejects with VercelRefusal where Vercel says no. */
export class VercelApi {
  readonly #options: VercelApiOptions;

  constructor(options: VercelApiOptions) {
    this.#options = options;
  }

  /** The variables, newest first, and where the next page begins. */
  async list(
    until: number | undefined,
    signal: AbortSignal,
  ): Promise<{ readonly variables: Variable[]; readonly next: number | undefined }> {
    const answer = await this.#call('GET', '/v10', '', { ...(until !== undefined && { until: String(until) }) }, undefined, signal);
    const { envs, pagination } = answer as { envs?: unknown; pagination?: { next?: number | null } };
    if (!Array.isArray(envs)) throw new ExternalServiceError('Vercel answers a list without variables');
    return { variables: envs.map(variable), next: pagination?.next ?? undefined };
  }

  async create(write: VariableWrite, signal: AbortSignal): Promise<Variable> {
    const answer = (await this.#call('POST', '/v10', '', {}, write, signal)) as {
      created?: unknown;
      failed?: readonly { readonly error?: { readonly code?: string; readonly message?: string } }[];
    };
    const [failed] = answer.failed ?? [];
    if (failed !== undefined) throw new VercelRefusal(400, failed.error?.code ?? '', failed.error?.message ?? '', () => undefined);
    return variable(Array.isArray(answer.created) ? answer.created[0] : answer.created);
  }

  async update(id: string, write: VariableWrite, signal: AbortSignal): Promise<Variable> {
    return variable(await this.#call('PATCH', '/v9', `/${encodeURIComponent(id)}`, {}, write, signal));
  }

  async delete(id: string, signal: AbortSignal): Promise<void> {
    await this.#call('DELETE', '/v9', `/${encodeURIComponent(id)}`, {}, undefined, signal);
  }

  async #call(
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    version: string,
    rest: string,
    query: Record<string, string>,
    body: unknown,
    signal: AbortSignal,
  ): Promise<unknown> {
    const { endpoint, token, projectId, teamId, dispatcher } = this.#options;
    const answer = await request(new URL(`${version}/projects/${encodeURIComponent(projectId)}/env${rest}`, endpoint), {
      method,
      query: { ...(teamId && { teamId }), ...query },
      headers: {
        authorization: `Bearer ${token}`,
        accept: 'application/json',
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      dispatcher,
      signal,
      headersTimeout: TIMEOUT_MS,
      bodyTimeout: TIMEOUT_MS,
    });
    const header = (name: string): string | undefined => [answer.headers[name]].flat()[0];
    const parsed = parse(await answer.body.text());
    if (answer.statusCode >= 300) {
      const { error } = (parsed ?? {}) as { error?: { code?: string; message?: string } };
      throw new VercelRefusal(answer.statusCode, error?.code ?? '', error?.message ?? 'without a reason', header);
    }
    if (parsed === undefined)
      throw new ExternalServiceError(`Vercel answers ${answer.statusCode} without JSON`, { requestId: header('x-vercel-id') });
    return parsed;
  }
}

function parse(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/** `target` may be one text. The value is dropped here, so that nothing holds it. */
function variable(from: unknown): Variable {
  const given = (from ?? {}) as Variable & { target?: string | readonly string[] };
  if (typeof given.id !== 'string' || typeof given.key !== 'string')
    throw new ExternalServiceError('Vercel answers a variable without an id');
  const { id, key, type, comment, gitBranch, customEnvironmentIds, createdAt, updatedAt } = given;
  return {
    id,
    key,
    type,
    target: [given.target ?? []].flat(),
    createdAt,
    updatedAt,
    ...(comment !== undefined && { comment }),
    ...(gitBranch !== undefined && { gitBranch }),
    ...(customEnvironmentIds !== undefined && { customEnvironmentIds }),
  };
}
