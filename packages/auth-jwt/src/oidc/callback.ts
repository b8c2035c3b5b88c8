import { requireAddress } from '@strongroom/auth-sdk';
import { BadRequest, EngineError, TokenRefused, UnsupportedOperation, type EngineResponse, type ErrorForm } from '@strongroom/engine-sdk';
import { isOpen, storedLogin, type Flow, type ProvenLogin } from './flow.ts';
import { grantLogin, resume, type LoginInProgress } from './grant-login.ts';
import type { OidcParts } from './oidc-parts.ts';
import { completedPage, confirmationPage, continuePage, failedPage } from './pages.ts';
import { proveAnswer, proveTokens } from './prove-login.ts';
import { Provider } from './provider.ts';
import { loginFailed, noSuchFlow, wrongClientNonce } from './refusals.ts';
import { sameText } from './same-text.ts';

type Answer = EngineResponse<never>;

/** What came back from the provider. Texts are '' where they are absent. */
export interface CallbackCall {
  readonly state: string;
  readonly code: string;
  readonly idToken: string;
  readonly clientNonce: string;
  /** Who says that it answers (RFC 9207). */
  readonly issuer: string;
  readonly browserKey: string;
  readonly error: string;
  readonly confirmed: boolean;
  readonly remoteAddress: string;
  readonly signal: AbortSignal;
}

/** The errors of OAuth 2.0 and OpenID Connect that a provider sends back. */
const KNOWN_ERRORS = new Set([
  'access_denied',
  'invalid_request',
  'invalid_scope',
  'server_error',
  'temporarily_unavailable',
  'unauthorized_client',
  'unsupported_response_type',
  'account_selection_required',
  'consent_required',
  'interaction_required',
  'login_required',
]);
/** Providers are asked to answer by GET. */
class FormRefused extends UnsupportedOperation {
  override readonly form: ErrorForm = 'plain';
  constructor() {
    super('unsupported operation: oidc_response_mode is not form_post');
  }
}

/** Characters of each text that a provider posts: it is stored. */
const LONGEST_POSTED = 65_536;
/** Stands for a code that the provider posted. */
const NO_CODE = 'no_code';

/** The callback by GET: a login for a program that shows its nonce, a page for a browser in the mode `direct`. */
export async function callback(parts: OidcParts, call: CallbackCall): Promise<Answer> {
  const { mode } = await parts.flows.find(call.state);
  if (mode === 'direct') return callbackOfBrowser(parts, call);
  if (mode === 'client') return callbackOfProgram(parts, call);
  throw noSuchFlow();
}

/** The callback by POST: keeps what the provider sent, for the GET that follows. @throws UnsupportedOperation unless the configuration asks for it */
export async function receiveForm(parts: OidcParts, call: CallbackCall): Promise<Answer> {
  const { config } = await parts.configs.required();
  if (config.oidc_response_mode !== 'form_post') throw new FormRefused();
  if (Math.max(call.code.length, call.idToken.length, call.issuer.length) > LONGEST_POSTED) {
    throw loginFailed(`The answer of the provider is longer than ${LONGEST_POSTED} characters.`);
  }
  const unanswered = (flow: Flow): boolean => isOpen(flow) && flow.code === undefined && flow.id_token === undefined;
  const flow = await parts.flows.reserve(call.state, unanswered);
  if (!flow) throw noSuchFlow();
  const received = {
    ...(call.code === '' ? {} : { code: call.code }),
    ...(call.idToken === '' ? {} : { id_token: call.idToken }),
    ...(call.issuer === '' ? {} : { answer_issuer: call.issuer }),
    // Whoever began the login knows its state, and must not confirm it in place of the person.
    ...(flow.mode === 'direct' ? { browser_key: parts.flows.newBrowserKey() } : {}),
  };
  await parts.flows.settle(call.state, received);
  if (call.error !== '') return continuePage({ state: call.state, error: call.error });
  return continuePage({ state: call.state, code: NO_CODE, ...keyField(received) });
}

/** The state is spent, unless the provider could not be asked. */
async function callbackOfProgram(parts: OidcParts, call: CallbackCall): Promise<Answer> {
  const flow = await parts.flows.take(call.state);
  if (flow.client_nonce !== '' && !sameText(flow.client_nonce, call.clientNonce)) throw wrongClientNonce();
  try {
    const login = await resume(parts, flow);
    requireAddress(login.role, call.remoteAddress);
    return { auth: grantLogin(parts, login, await prove(parts, login, call), call.remoteAddress) };
  } catch (error) {
    if (!isRefusal(error)) await parts.flows.putBack(call.state, flow);
    throw error;
  }
}

async function callbackOfBrowser(parts: OidcParts, call: CallbackCall): Promise<Answer> {
  const flow = await parts.flows.find(call.state);
  if (!isOpen(flow)) return failedPage(400, 'This login was completed before.');
  if (!isBrowserOf(flow, call)) return failedPage(400, 'The provider answered in another browser.');
  const answered = call.error !== '' || flow.code !== undefined || flow.id_token !== undefined || isCode(call.code);
  if (!answered) return failedPage(400, 'No code or id_token received.');
  try {
    const { role } = await resume(parts, flow);
    if (call.error === '' && !call.confirmed && !role.oidc_disable_confirmation) {
      const fields = { state: call.state, code: call.code, ...(call.issuer === '' ? {} : { iss: call.issuer }), ...keyField(flow) };
      return confirmationPage({ role: flow.role, begunFrom: flow.begun_from, begun: new Date(flow.begun), fields });
    }
    return await completeForPoll(parts, call);
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    return failedPage(error.status, error.message);
  }
}

/** Proves the login once, and leaves what came of it to a poll. */
async function completeForPoll(parts: OidcParts, call: CallbackCall): Promise<Answer> {
  const flow = await parts.flows.reserve(call.state, (one) => isOpen(one) && isBrowserOf(one, call));
  if (!flow) return failedPage(400, 'This login was completed before.');
  try {
    const login = await resume(parts, flow);
    const proven = await prove(parts, login, call);
    // What the role does not accept is said here, too, where the person reads it. The address that counts is that of the poll.
    grantLogin(parts, { ...login, role: { ...login.role, token_bound_cidrs: [] } }, proven, '');
    await parts.flows.settle(call.state, { proven: storedLogin(proven) });
    return completedPage();
  } catch (error) {
    await parts.flows.settle(call.state, isRefusal(error) ? { failure: error.message } : {});
    throw error;
  }
}

async function prove(parts: OidcParts, login: LoginInProgress, call: CallbackCall): Promise<ProvenLogin> {
  const { setup, role, flow } = login;
  if (call.error !== '') throw providerRefused(parts, call.error);
  const provider = await Provider.open({ ...parts, setup, signal: call.signal });
  provider.requireAnswerOf(flow.answer_issuer ?? call.issuer, flow.mode === 'direct');
  const toProve = { setup, provider, role, flow, signal: call.signal };
  if (setup.config.oidc_response_types.includes('id_token')) {
    if (flow.id_token === undefined) throw loginFailed('No code or id_token received.');
    return proveAnswer(parts, toProve, flow.id_token);
  }
  const code = flow.code ?? call.code;
  if (!isCode(code)) throw loginFailed('No code or id_token received.');
  const request = {
    code,
    state: call.state,
    redirectUri: flow.redirect_uri,
    nonce: flow.nonce,
    verifier: flow.code_verifier,
  };
  return proveTokens(parts, toProve, await provider.redeemCode(request));
}

function providerRefused(parts: OidcParts, error: string): BadRequest {
  if (KNOWN_ERRORS.has(error)) return loginFailed(error);
  parts.log.info('the provider refused a login', { error: error.slice(0, 200) });
  return loginFailed('An unknown error occurred during OIDC authentication. Check server logs for details');
}

/** Whether this browser may go on with the login: any one, until the provider has posted an answer in one. */
function isBrowserOf({ browser_key: key }: Flow, { browserKey }: CallbackCall): boolean {
  return key === undefined || sameText(key, browserKey);
}

function keyField({ browser_key: key }: Pick<Flow, 'browser_key'>): { readonly browser_key?: string } {
  return key === undefined ? {} : { browser_key: key };
}

function isCode(code: string): boolean {
  return code !== '' && code !== NO_CODE;
}

/** Whether the answer is final, as opposed to a provider that could not be asked. */
function isRefusal(error: unknown): error is EngineError {
  return error instanceof BadRequest || error instanceof TokenRefused;
}
