import { BlockList, isIP } from 'node:net';

const compiled = new Map<string, BlockList>();

/** Whether the address lies in one of the blocks; an empty list binds nothing. IPv4 in IPv6 form counts as IPv4. */
export function withinCidrs(blocks: readonly string[] | undefined, address: string): boolean {
  if (!blocks || blocks.length === 0) return true;
  const key = blocks.join(',');
  let list = compiled.get(key);
  if (!list) {
    list = new BlockList();
    for (const block of blocks) {
      const [base = '', bits] = block.split('/');
      const family = isIP(base) === 6 ? 'ipv6' : 'ipv4';
      if (isIP(base) === 0) continue;
      list.addSubnet(base, bits === undefined ? (family === 'ipv6' ? 128 : 32) : Number(bits), family);
    }
    if (compiled.size > 1_000) compiled.clear();
    compiled.set(key, list);
  }
  const plain = address.startsWith('::ffff:') ? address.slice(7) : address;
  const family = isIP(plain);
  return family !== 0 && list.check(plain, family === 6 ? 'ipv6' : 'ipv4');
}
