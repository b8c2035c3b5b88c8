import { BadRequest, readStoredJson, writeStoredJson, type Clock } from '@strongroom/engine-sdk';
import { cappedWarning } from '../../kernel/mounts/lease-terms.ts';
import type { CoreRequest } from '../../kernel/call/core-request.ts';
import type { CoreResponse, WrapInfo } from '../../kernel/call/core-response.ts';
import { Type } from 'typebox';
import { Records } from '../../kernel/storage/records.ts';
import type { Store, StoreTransaction } from '../../kernel/storage/store.ts';
import type { TokenRecord } from '../tokens/token-record.ts';
import type { TokenRevoker } from '../tokens/token-revoker.ts';
import type { FoundToken, TokenStore } from '../tokens/token-store.ts';
import { wrappingTtl } from './wrapping-ttl.ts';
import { NEVER } from '../../kernel/work/never.ts';

export const WRAPPING_POLICY = 'response-wrapping';
const INVALID = 'wrapping token is not valid or does not exist';

/** The call whose answer may be wrapped. */
export interface WrappableCall {
  readonly request: Pick<CoreRequest, 'wrapTtl'>;
  readonly path: string;
  /** Whole seconds that the wrapping token lives; 0 for an answer that is not wrapped. `admit` sets it. */
  wrapTtl: number;
}

/** What is kept of a wrapped answer, in the cubbyhole of its token. */
const Wrapped = Type.Object({ response: Type.String() });
const wrappedAnswers = new Records('cubbyhole/', Wrapped);

/** Answers kept behind a token of one use, in its cubbyhole. */
export class Wrapping {
  readonly #store: Store;
  readonly #tokens: TokenStore;
  readonly #revoker: TokenRevoker;
  readonly #clock: Clock;
  readonly #maxTtl: number;

  /** `maxTtl`: seconds that a wrapping token lives at most. */
  constructor(parts: { store: Store; tokens: TokenStore; revoker: TokenRevoker; clock: Clock; maxTtl: number }) {
    this.#store = parts.store;
    this.#tokens = parts.tokens;
    this.#revoker = parts.revoker;
    this.#clock = parts.clock;
    this.#maxTtl = parts.maxTtl;
  }

  /** Settles how long the answer's wrapping token is to live, before the policy is asked about it. @throws BadRequest */
  admit(call: WrappableCall): void {
    call.wrapTtl = wrappingTtl(call.request.wrapTtl, this.#maxTtl);
  }

  /** Wraps the answer if the caller asked for it and there is something to wrap. */
  async wrap(call: WrappableCall, answer: CoreResponse): Promise<CoreResponse> {
    const ttl = call.wrapTtl;
    const asked = call.request.wrapTtl ?? 0;
    if (answer.stream && ttl > 0) throw new BadRequest('this response is a stream, which cannot be wrapped');
    if (ttl === 0 || isEmpty(answer) || answer.errors || answer.wrapInfo) return answer;
    if (call.path.startsWith('sys/wrapping/') && call.path !== 'sys/wrapping/wrap') return answer;
    const { requestId: _ours, accessor = answer.auth?.accessor, ...kept } = answer;
    const { raw } = kept;
    // Bytes would not survive as JSON.
    const text = raw && typeof raw.body !== 'string' ? { ...kept, raw: { ...raw, body: Buffer.from(raw.body).toString() } } : kept;
    const info = await this.#keep(text, { ttl, path: call.path });
    if (accessor) info.wrapped_accessor = accessor;
    return wrappedAnswer(info, asked > this.#maxTtl ? [cappedWarning(asked, this.#maxTtl)] : null);
  }

  async lookup(token: string): Promise<{ creation_path: string; creation_time: string; creation_ttl: number }> {
    const { record } = await this.#require(token);
    return {
      creation_path: record.wrap!.creation_path,
      creation_time: new Date(record.created).toISOString(),
      creation_ttl: record.wrap!.ttl,
    };
  }

  /** The wrapped answer; the token is used up by it. @throws BadRequest */
  async unwrap(token: string): Promise<Partial<CoreResponse>> {
    const { answer } = await this.#take(token);
    return answer;
  }

  /** Puts the answer behind a new token with the same life, within what the maximum is now; the old one is used up. */
  async rewrap(token: string): Promise<Partial<CoreResponse>> {
    const { answer, record } = await this.#take(token);
    return wrappedAnswer(await this.#keep(answer, { ttl: wrappingTtl(record.wrap!.ttl, this.#maxTtl), path: record.wrap!.creation_path }));
  }

  async #take(token: string): Promise<{ answer: Omit<CoreResponse, 'requestId'>; record: TokenRecord }> {
    const found = await this.#require(token);
    if (!(await this.#tokens.use(found.digest))) throw new BadRequest(INVALID);
    const wrapped = await wrappedAnswers.get(this.#store, idOf(found.digest));
    await this.#revoker.revoke(found.digest, NEVER);
    if (!wrapped) throw new BadRequest(INVALID);
    return { answer: readStoredJson(wrapped.response) as Omit<CoreResponse, 'requestId'>, record: found.record };
  }

  async #require(token: string): Promise<FoundToken> {
    const found = token === '' ? undefined : await this.#tokens.find(token);
    if (!found?.record.wrap || (found.record.num_uses ?? 0) < 0) throw new BadRequest(INVALID);
    return found;
  }

  async #keep(answer: Omit<CoreResponse, 'requestId'>, origin: { ttl: number; path: string }): Promise<WrapInfo> {
    const now = this.#clock.millis();
    const record: Omit<TokenRecord, 'accessor'> = {
      path: origin.path,
      policies: [WRAPPING_POLICY],
      display_name: 'wrapped',
      created: now,
      expires: now + origin.ttl * 1_000,
      creation_ttl: origin.ttl,
      explicit_max_ttl: origin.ttl,
      renewable: false,
      num_uses: 1,
      no_default_policy: true,
      wrap: { creation_path: origin.path, ttl: origin.ttl },
    };
    const made = await this.#store.transaction(async (tx: StoreTransaction) => {
      const token = this.#tokens.create(tx, record);
      wrappedAnswers.put(tx, idOf(token.digest), { response: writeStoredJson(answer) });
      return token;
    });
    return {
      token: made.token,
      accessor: made.record.accessor,
      ttl: origin.ttl,
      creation_time: new Date(now).toISOString(),
      creation_path: origin.path,
    };
  }
}

function idOf(digest: string): string {
  return `${digest}/response`;
}

function wrappedAnswer(wrapInfo: WrapInfo, warnings: readonly string[] | null = null): CoreResponse {
  return {
    requestId: '',
    status: 200,
    leaseId: '',
    renewable: false,
    leaseDuration: 0,
    data: null,
    wrapInfo,
    warnings,
    auth: null,
  };
}

/** There is nothing in it to wrap; what it warns of is for whoever called. */
function isEmpty({ status, data, auth, leaseId, raw }: CoreResponse): boolean {
  return status === 204 || (data === null && auth === null && leaseId === '' && raw === undefined);
}
