import { randomBytes } from 'node:crypto';
import { DescriptionCheck } from './description.ts';
import { githubDescription } from './github-description.ts';
import { GithubState, type GithubTestApp, MOST_SECRETS, notFound, SECRETS_DOCUMENTATION } from './github-state.ts';
import { type GithubRepository, type GithubSecretScope, sodiumReady } from './github-store.ts';
import { parseJson, type ProviderAnswer, ProviderRefusal, type RunningServer, startHttpProvider } from './http-server.ts';
import { createTestCa } from './test-ca.ts';

/** What the GitHub of the tests is like. */
export interface GithubServerOptions {
  readonly now?: () => number;
  /** Another clock for `created_at` and `updated_at`, which have whole seconds: a test that edits twice in one lets it run ahead. */
  readonly secretsNow?: () => number;
  /** Calls that a token may make in an hour. */
  readonly rateLimit?: number;
  /** Serves over TLS, with a certificate of a CA of its own. */
  readonly tls?: boolean;
}

/** The GitHub of the tests. */
export interface GithubServer extends RunningServer {
  /** PEM of the authority that signed the server's certificate; empty without TLS. */
  readonly ca: string;
  /** A personal access token that may do everything. */
  readonly token: string;
  readonly app: GithubTestApp;
  /** Its owner is an organization or a user. */
  addRepository(owner: string, name: string, environments?: readonly string[]): GithubRepository;
  addOrganization(name: string): void;
  /** A token that may read repositories but has no permission on secrets. */
  addWeakToken(): string;
  /** The secrets of `owner/repo`, `owner/repo/environment` or of an organization. */
  scope(where: string): GithubSecretScope;
  /** Answers, or requests, that did not fit GitHub's description. Empty after an honest test. */
  readonly faults: readonly string[];
}

const DOCUMENTATION = 'https://docs.github.com/rest';

/** Plays the REST API of GitHub, on `/` and on `/api/v3` as GitHub Enterprise Server has it. State lives in memory. */
export async function startGithubServer(options: GithubServerOptions = {}): Promise<GithubServer> {
  await sodiumReady;
  const now = options.now ?? Date.now;
  const state = new GithubState(now, options.secretsNow ?? now, options.rateLimit ?? 5000);
  const check = new DescriptionCheck(githubDescription);
  const faults: string[] = [];
  const ca = options.tls === true ? createTestCa() : undefined;
  const running = await startHttpProvider({
    ...(ca !== undefined && { tls: ca.issue() }),
    requestId: () => ['x-github-request-id', githubRequestId()],
    refuse: (refusal) => renderRefusal(refusal, now()),
    handle: (request) => {
      const path = request.path.replace(/^\/api\/v3(?=\/)/, '');
      const call = check.find(request.method, path);
      if (call === undefined) throw notFound();
      const caller = state.authenticate(call, request);
      const body = request.text === '' ? undefined : parseJson(request.text, () => new ProviderRefusal(400, '', 'Problems parsing JSON'));
      const fault = check.requestFault(call, request.query, body);
      if (fault !== undefined) {
        faults.push(`${call.line}: ${fault}`);
        throw new ProviderRefusal(422, '', `Invalid request.\n\n${fault}.`, { details: { documentation_url: SECRETS_DOCUMENTATION } });
      }
      const answer = state.answer(call, request, body as Record<string, unknown> | undefined);
      const wrong = check.answerFault(call, answer.status, answer.body);
      if (wrong !== undefined) {
        faults.push(`${call.line} answers ${answer.status}: ${wrong}`);
        throw new Error(`the answer does not fit GitHub's description: ${wrong}`);
      }
      return { ...answer, headers: { ...state.rateHeaders(caller), ...answer.headers } };
    },
  });
  state.url = running.url;
  return {
    ...running,
    ca: ca?.certificate ?? '',
    token: state.issue('all', Number.POSITIVE_INFINITY, 'ghp_'),
    app: state.app,
    faults,
    addRepository: (owner, name, environments = []) => state.addRepository(owner, name, environments),
    addOrganization: (name) => state.addScope(name, MOST_SECRETS.organization),
    addWeakToken: () => state.issue('weak', Number.POSITIVE_INFINITY, 'ghp_'),
    scope: (where) => state.requireScope(where),
  };
}

const githubRequestId = (): string => [2, 3, 4, 4].map((bytes) => randomBytes(bytes).toString('hex').toUpperCase()).join(':');

/** `code` tells the two kinds of limits apart: `rate_limit`, and `secondary` whose pause is in `retry-after`. */
function renderRefusal(refusal: ProviderRefusal, nowMs: number): ProviderAnswer {
  const { remaining, documentation_url, ...details } = refusal.details;
  const secondary = refusal.code === 'secondary';
  return {
    status: refusal.status,
    headers: {
      ...(refusal.retryAfter !== undefined && { 'retry-after': String(refusal.retryAfter) }),
      ...(remaining !== undefined && { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(Math.floor(nowMs / 1000) + 60) }),
    },
    body: {
      message: secondary ? 'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.' : refusal.message,
      documentation_url:
        documentation_url ??
        (secondary ? `${DOCUMENTATION}/overview/rate-limits-for-the-rest-api#about-secondary-rate-limits` : DOCUMENTATION),
      status: String(refusal.status),
      ...details,
    },
  };
}
