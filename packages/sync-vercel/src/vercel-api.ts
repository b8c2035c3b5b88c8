import { ExternalServiceError } from '@strongroom/sync-sdk';
import { type Dispatcher, request } from 'undici';
import { VercelRefusal } from './provider-error.ts';

/** A variable as Vercel shows it; values are encrypted, or left out, and never read here. */
export interface Variable {
  readonly id: string;
  readonly key: string;
  readonly type: string;
  readonly target: readonly string[];
  readonly comment?: string;
  readonly gitBranch?: string;
  /** Environments of the project's own, beside `target`. */
  readonly customEnvironmentIds: readonly string[];
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

/** What a variable keeps for life is left out: Vercel refuses an edit of a sensitive one that names its key, even the same, or its type. */
export type VariableChange = Omit<VariableWrite, 'key' | 'type'>;

export interface VariablePage {
  readonly variables: readonly Variable[];
  /** Where the next page begins; undefined for the last. */
  readonly next: number | undefined;
  /** How many variables of production the token may not see. */
  readonly hiddenInProduction: number;
}

export interface VercelApiOptions {
  readonly endpoint: string;
  readonly token: string;
  readonly projectId: string;
  readonly teamId: string | undefined;
  readonly dispatcher: Dispatcher;
}

interface Failure {
  readonly code?: string;
  readonly message?: string;
}

/** What could not be created, one by one; it tells more than the error of the whole. */
interface Failures {
  readonly failed?: readonly { readonly error?: Failure }[];
}

const TIMEOUT_MS = 60_000;

/** The four calls on environment variables of a project. Each rejects with VercelRefusal where Vercel says no. */
export class VercelApi {
  readonly #options: VercelApiOptions;

  constructor(options: VercelApiOptions) {
    this.#options = options;
  }

  /** The variables, newest first. */
  async list(until: number | undefined, signal: AbortSignal): Promise<VariablePage> {
    const answer = await this.#call('GET', '/v10', '', { ...(until !== undefined && { until: String(until) }) }, undefined, signal);
    const { envs, pagination, hiddenProductionEnvCount } = answer as {
      envs?: unknown;
      pagination?: { next?: number | null };
      hiddenProductionEnvCount?: number;
    };
    if (!Array.isArray(envs)) throw new ExternalServiceError('Vercel answers a list without variables');
    return { variables: envs.map(variable), next: pagination?.next ?? undefined, hiddenInProduction: hiddenProductionEnvCount ?? 0 };
  }

  async create(write: VariableWrite, signal: AbortSignal): Promise<Variable> {
    const answer = (await this.#call('POST', '/v10', '', {}, write, signal)) as Failures & { readonly created?: unknown };
    const [failed] = answer.failed ?? [];
    if (failed !== undefined) throw new VercelRefusal(400, failed.error?.code ?? '', failed.error?.message ?? '', () => undefined);
    return variable(Array.isArray(answer.created) ? answer.created[0] : answer.created);
  }

  async update(id: string, change: VariableChange, signal: AbortSignal): Promise<Variable> {
    return variable(await this.#call('PATCH', '/v9', `/${encodeURIComponent(id)}`, {}, change, signal));
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
      const { error: whole, failed } = (parsed ?? {}) as Failures & { readonly error?: Failure };
      const error = failed?.[0]?.error ?? whole;
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

/** `target` may be one text, and what is not set null. The value is dropped here, so that nothing holds it. */
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
    customEnvironmentIds: customEnvironmentIds ?? [],
    ...(comment && { comment }),
    ...(gitBranch && { gitBranch }),
  };
}
