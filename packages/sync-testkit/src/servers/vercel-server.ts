import { randomBytes } from 'node:crypto';
import { DescriptionCheck } from './description.ts';
import {
  parseJson,
  type ProviderAnswer,
  ProviderRefusal,
  type ProviderRequest,
  type RunningServer,
  startHttpProvider,
} from './http-server.ts';
import { vercelDescription } from './vercel-description.ts';
import { refuse, VercelProject, type VercelVariable, type VariableWrite } from './vercel-project.ts';

/** What the Vercel of the tests is like. */
export interface VercelServerOptions {
  readonly now?: () => number;
  readonly pageSize?: number;
}

/** The Vercel of the tests. */
export interface VercelServer extends RunningServer {
  /** May manage the variables of every project. */
  readonly token: string;
  /** A token that may only look. */
  readonly readOnlyToken: string;
  /** A project of the account, or of a team. Its id is `prj_…`, and it is also found by its name. */
  addProject(name: string, teamId?: string): VercelProject;
  /** A token that sees no variables of production, as the role of a project's developer. */
  readonly developerToken: string;
  /** Requests and answers that did not fit the description. Empty after an honest test. */
  readonly faults: readonly string[];
}

const newToken = (): string => randomBytes(18).toString('base64url');

/** Plays Vercel's REST API of environment variables. State lives in memory. */
export async function startVercelServer(options: VercelServerOptions = {}): Promise<VercelServer> {
  const now = options.now ?? Date.now;
  const pageSize = options.pageSize ?? 100;
  const [token, readOnlyToken, developerToken] = [newToken(), newToken(), newToken()];
  const projects: VercelProject[] = [];
  const check = new DescriptionCheck(vercelDescription);
  const faults: string[] = [];

  const running = await startHttpProvider({
    requestId: () => ['x-vercel-id', `fra1::${randomBytes(3).toString('hex')}-${now()}-${randomBytes(6).toString('hex')}`],
    refuse: (refusal) => ({
      status: refusal.status,
      ...(refusal.retryAfter !== undefined && { headers: { 'retry-after': String(refusal.retryAfter) } }),
      body: { error: { code: refusal.code === '' ? 'internal_server_error' : refusal.code, message: refusal.message, ...refusal.details } },
    }),
    handle: (request) => {
      const call = check.find(request.method, request.path);
      if (call === undefined) throw refuse(404, 'not_found', 'The requested resource was not found.');
      const bearer = /^Bearer (\S+)$/.exec(request.headers.authorization ?? '')?.[1];
      if (bearer === undefined) throw refuse(401, 'missing_token', 'The request is missing an authentication token');
      if (![token, readOnlyToken, developerToken].includes(bearer))
        throw new ProviderRefusal(403, 'forbidden', 'Not authorized', { details: { invalidToken: true } });
      const body = request.text === '' ? undefined : parseJson(request.text, () => refuse(400, 'invalid_json', 'Invalid JSON'));
      const fault = check.requestFault(call, request.query, body);
      if (fault !== undefined) {
        faults.push(`${call.line}: ${fault}`);
        throw refuse(400, 'bad_request', `Invalid request: ${fault}.`);
      }
      const wanted = call.values['idOrName'];
      const team = request.query.get('teamId') ?? undefined;
      const project = projects.find(({ id, name, teamId }) => (id === wanted || name === wanted) && teamId === team);
      if (project === undefined) throw refuse(404, 'not_found', 'Project not found');
      if (bearer === readOnlyToken && request.method !== 'GET')
        throw refuse(403, 'forbidden', "You don't have permission to manage the variables.");
      const seesProduction = bearer !== developerToken;
      const answer = answerOf(project, request, call.values['id'], body, { pageSize, seesProduction });
      const wrong = check.answerFault(call, answer.status, answer.body);
      if (wrong !== undefined) {
        faults.push(`${call.line} answers ${answer.status}: ${wrong}`);
        throw new Error(`the answer does not fit the description: ${wrong}`);
      }
      return answer;
    },
  });
  return {
    ...running,
    token,
    readOnlyToken,
    developerToken,
    faults,
    addProject: (name, teamId) => {
      const project = new VercelProject(`prj_${randomBytes(14).toString('hex')}`, name, teamId, now);
      projects.push(project);
      return project;
    },
  };
}

function answerOf(
  project: VercelProject,
  request: ProviderRequest,
  id: string | undefined,
  body: unknown,
  { pageSize, seesProduction }: { readonly pageSize: number; readonly seesProduction: boolean },
): ProviderAnswer {
  switch (request.method) {
    case 'GET':
      return seesProduction ? list(project, request.query, pageSize) : listWithoutProduction(project);
    case 'POST':
      return create(project, body, request.query.get('upsert') === 'true');
    case 'PATCH':
      return { status: 200, body: render(project.update(id!, body as VariableWrite)) };
    default:
      return { status: 200, body: render(project.delete(id!)) };
  }
}

/** `next` is the time before which the variables of the following page were made. */
function list(project: VercelProject, query: URLSearchParams, pageSize: number): ProviderAnswer {
  const size = Math.min(Number(query.get('limit') ?? pageSize), pageSize);
  const until = query.has('until') ? Number(query.get('until')) : Number.POSITIVE_INFINITY;
  const rest = project.all().filter(({ createdAt }) => createdAt < until);
  const page = rest.slice(0, size);
  const [first, last] = [page[0], page.at(-1)];
  return {
    status: 200,
    body: {
      envs: page.map(renderListed),
      pagination: {
        count: page.length,
        next: last !== undefined && page.length < rest.length ? last.createdAt : null,
        prev: first !== undefined && until !== Number.POSITIVE_INFINITY ? first.createdAt : null,
      },
    },
  };
}

/** For whoever may not see those of production: what is left, all at once, and how many are hidden. */
function listWithoutProduction(project: VercelProject): ProviderAnswer {
  const seen = project.all().filter(({ target }) => !target.includes('production'));
  return { status: 200, body: { envs: seen.map(renderListed), hiddenProductionEnvCount: project.all().length - seen.length } };
}

const renderListed = (variable: VercelVariable): Record<string, unknown> => ({ ...render(variable), securityIssues: [] });

function create(project: VercelProject, body: unknown, upsert: boolean): ProviderAnswer {
  type Creation = VariableWrite & { readonly key: string; readonly value: string };
  if (!Array.isArray(body)) return { status: 201, body: { created: render(project.create(body as Creation, upsert)), failed: [] } };
  const [created, failed]: [unknown[], unknown[]] = [[], []];
  for (const one of body as Creation[]) {
    try {
      created.push(render(project.create(one, upsert)));
    } catch (error) {
      if (!(error instanceof ProviderRefusal)) throw error;
      failed.push({ error: { code: error.code, message: error.message, ...error.details } });
    }
  }
  return { status: 201, body: { created, failed } };
}

/** Values of sensitive variables never leave; others leave encrypted. */
function render(variable: VercelVariable): Record<string, unknown> {
  const { gitBranch, ...rest } = variable;
  const value =
    variable.type === 'sensitive' ? '' : variable.type === 'plain' ? variable.value : Buffer.from(randomBytes(24)).toString('base64');
  return {
    ...rest,
    ...(gitBranch !== undefined && { gitBranch }),
    value,
    decrypted: false,
    configurationId: null,
    createdBy: 'user_test',
    updatedBy: null,
  };
}
