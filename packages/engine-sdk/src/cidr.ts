import { BlockList, isIP } from 'node:net';

const compiled = new Map<string, BlockList>();
const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;

/** Whether the address is within one of the blocks. An empty list allows every address. IPv4 in IPv6 form counts as IPv4. */
export function withinCidrs(blocks: readonly string[] | undefined, address: string): boolean {
  if (!blocks || blocks.length === 0) return true;
  const key = blocks.join(',');
  let list = compiled.get(key);
  if (!list) {
    list = new BlockList();
    for (const text of blocks) {
      const block = blockOf(text);
      if (block) list.addSubnet(block.base, block.bits, block.family);
    }
    if (compiled.size > 1_000) compiled.clear();
    compiled.set(key, list);
  }
  const plain = MAPPED.exec(address)?.[1] ?? address;
  const family = isIP(plain);
  return family !== 0 && list.check(plain, family === 6 ? 'ipv6' : 'ipv4');
}

/** Whether the text is an address or a CIDR block: `10.0.0.0/8`, `::1`. */
export function isCidr(text: string): boolean {
  return blockOf(text) !== undefined;
}

/** The addresses within both lists; empty if they share none. Neither list may be empty. */
export function sharedCidrs(a: readonly string[], b: readonly string[]): string[] {
  const shared = new Set<string>();
  for (const one of a) {
    for (const other of b) {
      if (contains(one, other)) shared.add(other);
      else if (contains(other, one)) shared.add(one);
    }
  }
  return [...shared];
}

/** The first block that is not within the bounds; undefined if all are. Empty bounds allow every block. */
export function cidrOutside(blocks: readonly string[], bounds: readonly string[]): string | undefined {
  if (bounds.length === 0) return undefined;
  return blocks.find((block) => !bounds.some((bound) => contains(bound, block)));
}

interface Block {
  readonly base: string;
  readonly bits: number;
  readonly family: 'ipv4' | 'ipv6';
}

/** IPv4 in IPv6 form counts as IPv4. */
function blockOf(text: string): Block | undefined {
  const [address = '', bits, ...rest] = text.split('/');
  const version = isIP(address);
  if (version === 0 || rest.length > 0 || address.includes('%') || (bits !== undefined && !/^\d{1,3}$/.test(bits))) return undefined;
  const longest = version === 6 ? 128 : 32;
  const length = bits === undefined ? longest : Number(bits);
  if (length > longest) return undefined;
  const [, mapped] = MAPPED.exec(address) ?? [];
  if (mapped !== undefined && length >= 96) return { base: mapped, bits: length - 96, family: 'ipv4' };
  return { base: address, bits: length, family: version === 6 ? 'ipv6' : 'ipv4' };
}

/** Two blocks are apart, or one holds the other. */
function contains(outer: string, inner: string): boolean {
  const [bound, block] = [blockOf(outer), blockOf(inner)];
  if (!bound || !block || bound.family !== block.family || bound.bits > block.bits) return false;
  const list = new BlockList();
  list.addSubnet(bound.base, bound.bits, bound.family);
  return list.check(block.base, block.family);
}
