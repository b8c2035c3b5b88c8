import { createServer, Socket } from 'node:net';
import { describe, expect, jest, test } from '@jest/globals';
import { createTestCa } from '@strongroom/lab';
import type { CassandraConnection } from '../../src/index.ts';
import type { TestedServer } from './tested-server.ts';

export function parameterSuite(tested: TestedServer): void {
  const tls = (change: Partial<CassandraConnection> = {}) =>
    tested.verify({ hosts: 'localhost', pem_bundle: tested.ca.certificate, tls: true, ...change });

  describe('the parameters of Cassandra connections', () => {
    test('hosts, port: several nodes, with and without a port', async () => {
      const { port } = tested.server;
      await tested.verify({ hosts: `127.0.0.1:1, 127.0.0.1:${port}`, port });
      await tested.verify({ hosts: 'localhost', port });
      await expect(tested.verify({ hosts: '127.0.0.1', port: 1 })).rejects.toThrow(
        /^error verifying connection: failed to connect to 127\.0\.0\.1:1 as cassandra: 127\.0\.0\.1:1: .*ECONNREFUSED/,
      );
    });

    test('username, password: say who', async () => {
      await expect(tested.verify({ password: 'wrong-password' })).rejects.toThrow(
        /error verifying connection: .*Provided username cassandra and\/or password are incorrect/,
      );
    });

    test('tls, pem_bundle: the certificate must be of that authority', async () => {
      await tls();
      await expect(tls({ pem_bundle: createTestCa().certificate })).rejects.toThrow(/error verifying connection: .*certificate/);
      await expect(tested.verify({ hosts: 'localhost', tls: true })).rejects.toThrow(/error verifying connection: .*certificate/);
    });

    test('tls_server_name: takes the place of the address in the certificate', async () => {
      await expect(tls({ hosts: '127.0.0.1' })).rejects.toThrow(/error verifying connection: .*(IP|altnames)/);
      await tls({ hosts: '127.0.0.1', tls_server_name: 'node.test' });
      await expect(tls({ tls_server_name: 'other.test' })).rejects.toThrow(/error verifying connection: .*altnames/);
    });

    test('insecure_tls: any certificate will do', async () => {
      await tested.verify({ hosts: '127.0.0.1', port: tested.demanding.port, insecure_tls: true, pem_bundle: client() });
      await tested.verify({ hosts: '127.0.0.1', insecure_tls: true });
    });

    test('pem_bundle, pem_json: a client certificate satisfies a server that asks for one', async () => {
      const { port } = tested.demanding;
      await tls({ port, pem_bundle: client() });
      const { cert, key } = tested.ca.issue('client');
      const issued = { certificate: cert, private_key: key, issuing_ca: tested.ca.certificate };
      await tested.verify({ hosts: 'localhost', port, pem_json: JSON.stringify({ data: issued }) });
      await expect(tls({ port })).rejects.toThrow('error verifying connection');
    });

    test('tls_min_version: an older version is refused', async () => {
      await tls({ port: tested.demanding.port, pem_bundle: client(), tls_min_version: 'tls12' });
      const newer = tls({ port: tested.demanding.port, pem_bundle: client(), tls_min_version: 'tls13' });
      await expect(newer).rejects.toThrow(/error verifying connection: .*(version|protocol)/i);
    });

    test('protocol_version: what the server has left behind is refused, what it knows is spoken', async () => {
      const spoken = async (change: Partial<CassandraConnection>) => {
        await tested.verify({ port: tested.proxy.port, ...change });
        return startupVersion(tested.proxy.received());
      };
      expect(await spoken({ protocol_version: 3 })).toBe(3);
      expect(await spoken({})).toBe(4);
      await expect(tested.verify({ protocol_version: 2 })).rejects.toThrow('error verifying connection');
    });

    test('connect_timeout: ends the attempt to connect, TLS included', async () => {
      // Takes connections, but never says a word of TLS.
      const silent = createServer().listen(0, '127.0.0.1');
      await new Promise((resolve) => silent.once('listening', resolve));
      const { port } = silent.address() as { port: number };
      try {
        const attempt = (connect_timeout: string) => tested.verify({ port, insecure_tls: true, connect_timeout });
        const longer = expect(attempt('4s'))
          .rejects.toThrow('error verifying connection')
          .then(() => 'the longer one');
        const verifying = expect(attempt('300ms')).rejects.toThrow(/error verifying connection: .*Connection timeout/);
        expect(await Promise.race([longer, verifying.then(() => 'the shorter one')])).toBe('the shorter one');
        await longer;
      } finally {
        silent.close();
      }
    });

    test('socket_keep_alive: is handed to the operating system', async () => {
      const setKeepAlive = jest.spyOn(Socket.prototype, 'setKeepAlive');
      try {
        await tested.verify({ socket_keep_alive: '90s' });
        expect(setKeepAlive).toHaveBeenCalledWith(true, 90_000);
        await tested.verify({ socket_keep_alive: 0 });
        expect(setKeepAlive).toHaveBeenLastCalledWith(true, 15_000);
      } finally {
        setKeepAlive.mockRestore();
      }
    });

    test('local_datacenter: must be one that exists', async () => {
      await tested.verify({ local_datacenter: 'datacenter1' });
      await expect(tested.verify({ local_datacenter: 'elsewhere' })).rejects.toThrow(
        /error verifying connection: .*local_datacenter elsewhere is not one of the cluster's: datacenter1$/,
      );
    });

    test('consistency: every statement says it', async () => {
      const from = tested.proxy.received().length;
      await tested.verify({ port: tested.proxy.port, consistency: 'quorum' });
      const sent = tested.proxy.received().subarray(from);
      const statement = sent.indexOf('LIST ALL');
      expect(sent.readUInt16BE(statement + 'LIST ALL'.length)).toBe(4);
    });

    test('skip_verification: the permissions of the user are not looked at; otherwise the log says what is missing', async () => {
      await tested.asRoot(`CREATE USER modest WITH PASSWORD 'its-password'`);
      const modest = { port: tested.proxy.port, username: 'modest', password: 'its-password' };
      tested.logged.length = 0;
      const from = tested.proxy.received().length;
      await tested.verify({ ...modest, skip_verification: true });
      expect(tested.proxy.received().subarray(from).includes('LIST')).toBe(false);
      expect(tested.logged).toEqual([]);
      await tested.verify(modest);
      expect(tested.logged.join()).toContain('not authorized to create roles');
      tested.logged.length = 0;
      await tested.asRoot('GRANT CREATE ON ALL ROLES TO modest');
      await tested.verify(modest);
      expect(tested.logged).toEqual([]);
    });
  });

  const client = (): string => {
    const { cert, key } = tested.ca.issue('client');
    return tested.ca.certificate + cert + key;
  };
}

/** The version that the last STARTUP of `sent` speaks: a frame's first byte, nine before its body, in which two counts precede the first key. */
function startupVersion(sent: Buffer): number | undefined {
  return sent[sent.lastIndexOf('CQL_VERSION') - 4 - 9];
}
