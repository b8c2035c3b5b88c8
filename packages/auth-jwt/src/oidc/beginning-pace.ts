import { isIPv6 } from 'node:net';
import { TooManyRequests } from '@strongroom/engine-sdk';

/** Logins that one server begins within the lifetime of one, for everybody and for one address. */
const MOST = { together: 50_000, ofOneAddress: 5_000 };

/** Of IPv6, the 64 bits of a network: whoever has one address of it has them all. */
function networkOf(address: string): string {
  if (!isIPv6(address)) return address;
  const { hostname } = new URL(`http://[${address.split('%')[0]!}]`);
  const [head = '', tail] = hostname.slice(1, -1).split('::');
  const groups = (text: string): string[] => text.split(':').filter((group) => group !== '');
  const after = groups(tail ?? '');
  const zeros = Array.from({ length: 8 - groups(head).length - after.length }, () => '0');
  return [...groups(head), ...zeros, ...after].slice(0, 4).join(':');
}

interface Beginning {
  readonly address: string;
  readonly ends: number;
}

/** Limits how many logins are begun, since anybody can begin one, and each is stored. Nobody at one address can use up the share of all. */
export class BeginningPace {
  readonly #lifetime: number;
  readonly #most: typeof MOST;
  /** In the order of their ends; those before `#first` are over. */
  #beginnings: Beginning[] = [];
  #first = 0;
  readonly #byAddress = new Map<string, number>();

  /** `lifetime`: milliseconds. */
  constructor(lifetime: number, most = MOST) {
    this.#lifetime = lifetime;
    this.#most = most;
  }

  /** Counts a login that begins now. @throws TooManyRequests with Retry-After */
  admit(remoteAddress: string, now: number): void {
    const address = networkOf(remoteAddress);
    this.#forget(now);
    const mine = this.#byAddress.get(address) ?? 0;
    if (mine >= this.#most.ofOneAddress || this.#beginnings.length - this.#first >= this.#most.together) {
      const seconds = Math.ceil((this.#beginnings[this.#first]!.ends - now) / 1_000);
      throw new TooManyRequests('too many logins were begun and not completed; try again later', {
        headers: { 'Retry-After': String(seconds) },
      });
    }
    this.#beginnings.push({ address, ends: now + this.#lifetime });
    this.#byAddress.set(address, mine + 1);
  }

  #forget(now: number): void {
    for (let next = this.#beginnings[this.#first]; next && next.ends <= now; next = this.#beginnings[this.#first]) {
      this.#first += 1;
      const left = this.#byAddress.get(next.address)! - 1;
      if (left === 0) this.#byAddress.delete(next.address);
      else this.#byAddress.set(next.address, left);
    }
    if (this.#first * 2 > this.#beginnings.length) {
      this.#beginnings = this.#beginnings.slice(this.#first);
      this.#first = 0;
    }
  }
}
