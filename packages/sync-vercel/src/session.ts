import {
  ClientSideError,
  type DestinationHost,
  type DestinationSession,
  formatMark,
  type ListRequest,
  NameTaken,
  type PutRequest,
  type ReadRequest,
  type RemoteSecret,
  type RemoveRequest,
  SessionCalls,
} from '@strongroom/sync-sdk';
import { VariableListing } from './listing.ts';
import { ownerComment, parseOwnerComment } from './owner-comment.ts';
import { translateVercelError, VercelRefusal } from './provider-error.ts';
import type { Variable, VariableChange, VercelApi } from './vercel-api.ts';

export class VercelSession implements DestinationSession {
  readonly #api: VercelApi;
  readonly #listing: VariableListing;
  readonly #targets: readonly string[];
  readonly #calls: SessionCalls;

  constructor(api: VercelApi, targets: readonly string[], host: DestinationHost, token: string) {
    this.#api = api;
    this.#listing = new VariableListing(api, targets);
    this.#targets = targets;
    this.#calls = new SessionCalls((error) => translateVercelError(error, host.now()), [token]);
  }

  async read({ name, signal }: ReadRequest): Promise<RemoteSecret | undefined> {
    return await this.#calls.run(signal, async () => {
      const found = await this.#find(name);
      return found === undefined ? undefined : remote(found);
    });
  }

  /** Value, comment and environments go in one call, and a variable is changed in place: it is never missing for a moment. */
  async put(request: PutRequest): Promise<RemoteSecret> {
    return await this.#calls.run(request.signal, async () => remote(await this.#put(request)), request.value);
  }

  async remove({ name, current, signal }: RemoveRequest): Promise<void> {
    await this.#calls.run(signal, async () => {
      const id = current.identity ?? (await this.#find(name))?.id;
      if (id === undefined) return;
      try {
        await this.#api.delete(id, signal);
      } catch (error) {
        if (!isNotFound(error)) throw error;
        // Vercel also says so of a project that the token may not see; then this list is refused.
        await this.#api.list(undefined, signal);
      }
    });
  }

  list({ destination, signal }: ListRequest): AsyncIterable<RemoteSecret> {
    return this.#calls.each(signal, () => this.#listOurs(destination, signal));
  }

  /** The variables of the environment that has most of them. */
  async count(signal: AbortSignal): Promise<number> {
    return await this.#calls.run(signal, async () => {
      const all = await this.#listing.fetch();
      return Math.max(...this.#targets.map((target) => all.filter((one) => one.target.includes(target)).length));
    });
  }

  async close(): Promise<void> {
    if (this.#calls.close()) this.#listing.close();
  }

  async #put(request: PutRequest): Promise<Variable> {
    const { name, value, mark, current, signal } = request;
    const change: VariableChange = { value, target: this.#targets, comment: ownerComment(mark) };
    // Vercel keeps no sensitive variables for development, which people pull to their own machines.
    const type = this.#targets.includes('development') ? 'encrypted' : 'sensitive';
    const create = (): Promise<Variable> => this.#api.create({ key: name, type, ...change }, signal);
    if (current === undefined) {
      try {
        return await create();
      } catch (error) {
        if (!(error instanceof VercelRefusal && error.isConflict)) throw error;
      }
    }
    const found = await this.#find(name);
    if (found === undefined) return await create();
    const ours = parseOwnerComment(found.comment);
    const isOurs = ours !== undefined && formatMark(ours) === formatMark(mark);
    if (!isOurs && found.id !== current?.identity) throw new NameTaken(`somebody else has written the variable ${name} meanwhile`);
    this.#requireOwnEnvironments(found, ours !== undefined);
    return await this.#api.update(found.id, change, signal);
  }

  /** Taking over a variable of somebody else must not take it from environments that are not ours. */
  #requireOwnEnvironments(found: Variable, marked: boolean): void {
    const others = [...found.target.filter((target) => !this.#targets.includes(target)), ...found.customEnvironmentIds];
    if (marked || others.length === 0) return;
    const text = `the variable ${found.key} also serves ${others.join(' and ')}: give those environments a variable of their own first`;
    throw new ClientSideError(text, { providerCode: 'ENV_CONFLICT' });
  }

  /** The variable that stands in one of our environments. One of ours comes first, should there be several. */
  async #find(name: string): Promise<Variable | undefined> {
    const all = (await this.#listing.fetch()).filter((one) => one.key === name && this.#isHere(one));
    return all.find(({ comment }) => parseOwnerComment(comment) !== undefined) ?? all[0];
  }

  async *#listOurs(destination: string, signal: AbortSignal): AsyncGenerator<RemoteSecret> {
    for await (const page of this.#listing.pages(signal)) {
      for (const one of page) {
        if (this.#isHere(one) && parseOwnerComment(one.comment)?.destination === destination) yield remote(one);
      }
    }
  }

  /** Variables of a single branch only override ours there. */
  #isHere({ target, gitBranch }: Variable): boolean {
    return gitBranch === undefined && target.some((one) => this.#targets.includes(one));
  }
}

const isNotFound = (error: unknown): boolean => error instanceof VercelRefusal && error.status === 404;

function remote(variable: Variable): RemoteSecret {
  const mark = parseOwnerComment(variable.comment);
  return {
    name: variable.key,
    identity: variable.id,
    revision: String(variable.updatedAt),
    createdAt: new Date(variable.createdAt),
    ...(mark !== undefined && { mark }),
  };
}
