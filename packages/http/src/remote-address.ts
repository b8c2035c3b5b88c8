import { BlockList, isIP } from 'node:net';
import type { IncomingMessage } from 'node:http';
import { Refusal } from './refusal.ts';

/** Who sent a request, as far as the network knows. */
export interface RemoteParty {
  readonly address: string;
  readonly port: number;
  /** A trusted proxy sent it for this party: the connection, and the certificate shown on it, are the proxy's. */
  readonly forwarded: boolean;
}

/** The other end of the connection; IPv4 addresses without their IPv6 wrapping. Empty when it is already gone. */
export function peerOf(request: IncomingMessage): RemoteParty {
  const { remoteAddress, remotePort } = request.socket;
  return { address: plainAddress(remoteAddress ?? ''), port: remotePort ?? 0, forwarded: false };
}

function plainAddress(address: string): string {
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address;
}

/** Believes `X-Forwarded-For` only when it comes from one of these networks. */
export class TrustedProxies {
  readonly #networks = new BlockList();

  /** Addresses or networks such as `10.0.0.0/8`. @throws TypeError for anything else */
  constructor(networks: readonly string[]) {
    for (const network of networks) {
      const [address = '', prefix, ...rest] = network.split('/');
      const family = isIP(address);
      const bits = prefix === undefined ? (family === 4 ? 32 : 128) : Number(prefix);
      const valid =
        family !== 0 && rest.length === 0 && (prefix === undefined || /^\d{1,3}$/.test(prefix)) && bits <= (family === 4 ? 32 : 128);
      if (!valid) throw new TypeError(`trustedProxies: ${JSON.stringify(network)} is not an address or a network`);
      this.#networks.addSubnet(address, bits, family === 4 ? 'ipv4' : 'ipv6');
    }
  }

  /** The caller: the last address of `X-Forwarded-For` that is no trusted proxy. @throws Refusal (400) for what is no address */
  callerOf(request: IncomingMessage): RemoteParty {
    const peer = peerOf(request);
    const forwarded = request.headers['x-forwarded-for'];
    if (forwarded === undefined || !this.#trusts(peer.address)) return peer;
    const hops = String(forwarded).split(',');
    let caller = peer.address;
    for (let index = hops.length - 1; index >= 0; index -= 1) {
      const hop = plainAddress(hops[index]!.trim());
      if (isIP(hop) === 0) throw new Refusal(400, 'X-Forwarded-For: malformed address');
      caller = hop;
      if (!this.#trusts(hop)) break;
    }
    return { address: caller, port: caller === peer.address ? peer.port : 0, forwarded: true };
  }

  #trusts(address: string): boolean {
    const family = isIP(address);
    return family !== 0 && this.#networks.check(address, family === 4 ? 'ipv4' : 'ipv6');
  }
}
