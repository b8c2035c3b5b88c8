import { describe, expect, test } from '@jest/globals';
import { createNetworkGuard, NetworkPolicy, type NetworkRules } from '../src/index.ts';

const STRICT: NetworkRules = { allowedIpv4: [], allowedIpv6: [], allowedPorts: [], disabled: false };

describe('special-purpose addresses are refused unless they are allowed', () => {
  const strict = new NetworkPolicy(STRICT);

  test.each([
    ['this network', '0.0.0.0'],
    ['private', '10.1.2.3'],
    ['private', '172.16.0.1'],
    ['private', '192.168.1.1'],
    ['shared', '100.64.0.1'],
    ['loopback', '127.0.0.1'],
    ['link-local, where clouds tell credentials', '169.254.169.254'],
    ['documentation', '203.0.113.7'],
    ['benchmarking', '198.18.0.1'],
    ['multicast', '224.0.0.1'],
    ['reserved', '240.0.0.1'],
    ['broadcast', '255.255.255.255'],
    ['unspecified', '::'],
    ['loopback', '::1'],
    ['unique local', 'fd00::1'],
    ['link-local', 'fe80::1'],
    ['link-local with a zone', 'fe80::1%eth0'],
    ['IPv4 in IPv6', '::ffff:127.0.0.1'],
    ['6to4, which leads to any IPv4 address', '2002:7f00:1::'],
    ['translated IPv4', '64:ff9b::7f00:1'],
    ['documentation', '2001:db8::1'],
    ['multicast', 'ff02::1'],
    ['what is no address', 'localhost'],
  ])('%s: %s', (_, address) => {
    expect(strict.allows(address)).toBe(false);
    expect(() => strict.checkAddress('db.example', address)).toThrow(/is a special-purpose address.*allowed_ipv[46]_addresses/);
    expect(new NetworkPolicy({ ...STRICT, disabled: true }).allows(address)).toBe(true);
  });

  test.each(['8.8.8.8', '52.94.133.131', '2606:4700::1111'])('%s is public', (address) => {
    expect(strict.allows(address)).toBe(true);
  });

  test('a block or an address of allowed_ipv4_addresses and allowed_ipv6_addresses', () => {
    const allowed = new NetworkPolicy({ ...STRICT, allowedIpv4: ['10.0.0.0/8', '127.0.0.1'], allowedIpv6: ['fd00::/8'] });
    expect(['10.9.8.7', '127.0.0.1', '::ffff:10.9.8.7', 'fd12::1'].map((address) => allowed.allows(address))).toEqual([
      true,
      true,
      true,
      true,
    ]);
    expect(['11.0.0.1', '127.0.0.2', 'fc00::1'].map((address) => allowed.allows(address))).toEqual([true, false, false]);
  });
});

describe('ports', () => {
  test('80 and 443 alone are allowed, and those of allowed_ports', () => {
    const policy = new NetworkPolicy({ ...STRICT, allowedPorts: [8443] });
    for (const port of [80, 443, 8443]) expect(() => policy.checkPort('vault.example', port)).not.toThrow();
    expect(() => policy.checkPort('vault.example', 22)).toThrow('port 22 of vault.example is not allowed: add it to allowed_ports');
  });
});

describe('names', () => {
  const answering = (...addresses: string[]) =>
    ((_: string, __: unknown, callback: (error: null, found: { address: string; family: number }[]) => void) =>
      callback(
        null,
        addresses.map((address) => ({ address, family: 4 })),
      )) as never;

  test('a name that resolves to a special-purpose address is refused, whatever it is called', async () => {
    const guard = createNetworkGuard(STRICT, { lookup: answering('169.254.169.254') });
    await expect(guard.resolve('innocent.example', 443)).rejects.toThrow('innocent.example (169.254.169.254) is a special-purpose address');
    await guard.close();
  });

  test('of several addresses those that are allowed are left', async () => {
    const guard = createNetworkGuard(STRICT, { lookup: answering('10.0.0.1', '52.94.133.131') });
    expect(await guard.resolve('both.example', 443)).toEqual([{ address: '52.94.133.131', family: 4 }]);
    await guard.close();
  });
});
