/** Addresses to call from, and blocks of them, read without the code under test: IPv4 as a number, the one IPv6 address as itself. */
export const ADDRESSES = ['10.1.1.1', '10.2.0.9', '192.168.5.5', '172.16.0.1', '::1'] as const;
export const BLOCKS = [
  '10.0.0.0/8',
  '10.1.0.0/16',
  '10.1.1.0/24',
  '10.1.1.1',
  '10.2.0.0/16',
  '192.168.0.0/16',
  '0.0.0.0/0',
  '::1',
] as const;

/** No blocks hold every address. */
export function within(address: string, blocks: readonly string[]): boolean {
  return blocks.length === 0 || blocks.some((block) => covers(block, address));
}

/** One of the addresses that the blocks hold. */
export function addressWithin(blocks: readonly string[]): string {
  const found = ADDRESSES.find((address) => within(address, blocks));
  if (found === undefined) throw new Error(`none of the addresses lies within ${blocks.join(', ')}`);
  return found;
}

export function covers(outer: string, inner: string): boolean {
  if (outer.includes(':') || inner.includes(':')) return outer === inner;
  const [a, b] = [rangeOf(outer), rangeOf(inner)];
  return a.first <= b.first && b.last <= a.last;
}

function rangeOf(block: string): { first: number; last: number } {
  const [address = '', bits = '32'] = block.split('/');
  const size = 2 ** (32 - Number(bits));
  const number = address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
  const first = Math.floor(number / size) * size;
  return { first, last: first + size - 1 };
}
