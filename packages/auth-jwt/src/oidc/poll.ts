import { requireAddress } from '@strongroom/auth-sdk';
import { BadRequest, type EngineResponse, type IssuedAuth } from '@strongroom/engine-sdk';
import { provenIn, storedLogin, type Flow, type ProvenLogin } from './flow.ts';
import { grantLogin, resume, type LoginInProgress } from './grant-login.ts';
import type { OidcParts } from './oidc-parts.ts';
import { proveTokens } from './prove-login.ts';
import { Provider } from './provider.ts';
import { noSuchFlow, notYet, wrongClientNonce } from './refusals.ts';
import { sameText } from './same-text.ts';

export interface PollCall {
  readonly state: string;
  readonly clientNonce: string;
  readonly remoteAddress: string;
  readonly signal: AbortSignal;
}

/** The login of a program that waits for the server: `authorization_pending` until it is complete. A refusal ends the flow. */
export async function poll(parts: OidcParts, call: PollCall): Promise<EngineResponse<never>> {
  const flow = await parts.flows.find(call.state);
  if (flow.mode === 'client') throw noSuchFlow();
  if (!sameText(flow.client_nonce, call.clientNonce)) {
    await parts.flows.end(call.state);
    throw wrongClientNonce();
  }
  const auth = await grantOrWait(parts, flow, call);
  if (typeof auth === 'string') throw notYet(auth);
  return { auth: { ...auth, consume: async (tx) => parts.flows.consume(tx, call.state) } };
}

type Waiting = 'authorization_pending' | 'slow_down';

async function grantOrWait(parts: OidcParts, flow: Flow, call: PollCall): Promise<IssuedAuth | Waiting> {
  try {
    if (flow.failure !== undefined) throw new BadRequest(flow.failure);
    const login = await resume(parts, flow);
    requireAddress(login.role, call.remoteAddress);
    const proven = provenIn(flow) ?? (flow.mode === 'device' ? await askProvider(parts, login, call) : 'authorization_pending');
    return typeof proven === 'string' ? proven : grantLogin(parts, login, proven, call.remoteAddress);
  } catch (error) {
    if (!(error instanceof BadRequest)) throw error;
    await parts.flows.end(call.state);
    throw new BadRequest(`authorization failed: ${error.message}`);
  }
}

/** Asks the provider for the tokens of a device. What it hands out is stored first: it does so once. */
async function askProvider(
  parts: OidcParts,
  { setup, role, flow }: LoginInProgress,
  { state, signal }: PollCall,
): Promise<ProvenLogin | Waiting> {
  const provider = await Provider.open({ ...parts, setup, signal });
  if (!(await parts.flows.reserve(state, ({ proven }) => proven === undefined))) return 'authorization_pending';
  let proven: ProvenLogin | undefined;
  try {
    const tokens = await provider.pollDevice(flow.device_code ?? '');
    if (typeof tokens === 'string') return tokens;
    proven = await proveTokens(parts, { setup, provider, role, flow, signal }, tokens);
    return proven;
  } finally {
    await parts.flows.settle(state, proven ? { proven: storedLogin(proven) } : {});
  }
}
