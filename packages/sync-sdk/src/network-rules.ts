import ipaddr from 'ipaddr.js';
import { AddressRefused, ConfigurationInvalid } from './errors.ts';

/** What a destination allows beyond public addresses on ports 80 and 443. */
export interface NetworkRules {
  /** CIDR blocks, or single addresses, of IPv4. */
  readonly allowedIpv4: readonly string[];
  readonly allowedIpv6: readonly string[];
  readonly allowedPorts: readonly number[];
  /** Lifts every restriction. */
  readonly disabled: boolean;
}

type Address = ipaddr.IPv4 | ipaddr.IPv6;

const USUAL_PORTS: readonly number[] = [80, 443];
/** All that is handed out to the public so far; the rest of IPv6 is special, or nobody's. */
const PUBLIC_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');

/** Rules in the form they are asked in. @throws ConfigurationInvalid naming the field of the destination. */
export class NetworkPolicy {
  readonly #rules: NetworkRules;
  readonly #blocks: readonly [Address, number][];

  constructor(rules: NetworkRules) {
    this.#rules = rules;
    this.#blocks = [
      ...rules.allowedIpv4.map((block) => parseBlock('allowed_ipv4_addresses', 'ipv4', block)),
      ...rules.allowedIpv6.map((block) => parseBlock('allowed_ipv6_addresses', 'ipv6', block)),
    ];
    const port = rules.allowedPorts.find((candidate) => !Number.isInteger(candidate) || candidate < 1 || candidate > 65_535);
    if (port !== undefined) throw new ConfigurationInvalid(`allowed_ports: ${port} is not a port; give numbers from 1 to 65535`);
  }

  /** @throws AddressRefused */
  checkPort(host: string, port: number): void {
    if (this.#rules.disabled || USUAL_PORTS.includes(port) || this.#rules.allowedPorts.includes(port)) return;
    throw new AddressRefused(`port ${port} of ${host} is not allowed: add it to allowed_ports of the destination`);
  }

  allows(address: string): boolean {
    if (this.#rules.disabled) return true;
    if (!ipaddr.isValid(address)) return false;
    const parsed = ipaddr.process(address);
    return isPublic(parsed) || this.#blocks.some(([block, bits]) => parsed.kind() === block.kind() && parsed.match([block, bits]));
  }

  /** @throws AddressRefused */
  checkAddress(host: string, address: string): void {
    if (this.allows(address)) return;
    const field =
      ipaddr.isValid(address) && ipaddr.process(address).kind() === 'ipv6' ? 'allowed_ipv6_addresses' : 'allowed_ipv4_addresses';
    const where = host === address ? address : `${host} (${address})`;
    throw new AddressRefused(`${where} is a special-purpose address, which is not allowed: add it to ${field} of the destination`);
  }
}

function isPublic(address: Address): boolean {
  if (address.range() !== 'unicast') return false;
  return address.kind() === 'ipv4' || (address as ipaddr.IPv6).match(PUBLIC_IPV6);
}

function parseBlock(field: string, kind: 'ipv4' | 'ipv6', text: string): [Address, number] {
  const whole = kind === 'ipv4' ? 32 : 128;
  const cidr = text.includes('/') ? text : `${text}/${whole}`;
  const family = kind === 'ipv4' ? ipaddr.IPv4 : ipaddr.IPv6;
  if (!family.isValidCIDR(cidr) || (kind === 'ipv4' && !ipaddr.IPv4.isValidFourPartDecimal(cidr.split('/')[0] ?? ''))) {
    throw new ConfigurationInvalid(`${field}: "${text}" is not an ${kind === 'ipv4' ? 'IPv4' : 'IPv6'} address or CIDR block`);
  }
  return family.parseCIDR(cidr);
}
