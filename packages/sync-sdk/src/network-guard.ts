import type http from 'node:http';
import type https from 'node:https';
import type { LookupFunction } from 'node:net';
import type { Dispatcher } from 'undici';

/** What a destination allows beyond public addresses on ports 80 and 443. */
export interface NetworkRules {
  /** CIDR blocks, or single addresses, of IPv4. */
  readonly allowedIpv4: readonly string[];
  readonly allowedIpv6: readonly string[];
  readonly allowedPorts: readonly number[];
  /** Lifts every restriction. */
  readonly disabled: boolean;
}

export interface ResolvedAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/**
 * The way out of a session. It refuses special-purpose addresses (loopback, private, link-local, …) and ports other than 80 and 443, unless
 * the destination allows them. What counts is the address that is really connected to: names are resolved here and every connection is
 * checked, so that neither DNS nor a redirect leads around it. A refusal is AddressRefused, or has it as its `cause` where a library wraps it.
 * Choose the form that the provider's SDK takes.
 */
export interface NetworkGuard {
  /** For `undici` and `fetch`. */
  readonly dispatcher: Dispatcher;
  /** For SDKs on node's http and https. They keep connections alive. */
  readonly httpAgent: http.Agent;
  readonly httpsAgent: https.Agent;
  /** For what makes its sockets itself but takes a `lookup`, as `net.connect` does. Literal addresses pass it by: call `check` as well. */
  readonly lookup: LookupFunction;
  /** Throws AddressRefused for a port, or a literal address, that is not allowed. Names are not resolved. */
  check(host: string, port: number): void;
  /** Resolves and checks: for gRPC, whose channel is then opened to the addresses. @throws AddressRefused if no address is allowed. */
  resolve(host: string, port: number): Promise<readonly ResolvedAddress[]>;
  /** Ends idle connections. The host calls it after the session's `close`. */
  close(): Promise<void>;
}
