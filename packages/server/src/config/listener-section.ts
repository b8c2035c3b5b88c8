import { BlockList, isIP } from 'node:net';
import { getCiphers } from 'node:tls';
import { CERTIFICATE_DECODERS, type CertificateDecoder, type ForwardedCertificateOptions } from '@strongroom/http';
import type { TokenlessCeremony } from '@strongroom/core';
import { isLoopbackHost } from '@strongroom/engine-sdk';
import { parseAddress } from './address.ts';
import { NO_LIMITS, type Listener, type ListenerLimits, type TlsChoice, type TlsVersion } from './configuration.ts';
import { listed, shown, type Block, type Section } from './section.ts';

const VERSIONS: Readonly<Record<string, TlsVersion>> = { tls12: 'TLSv1.2', tls13: 'TLSv1.3' };
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const FORWARDED = 'the caller is the last address in X-Forwarded-For that is no trusted proxy';

const UNVERIFIED =
  'has no effect without tls_require_and_verify_client_cert: any certificate completes the handshake, and the login method decides whom it trusts';
/** Vault's name of the list of decoders comes second. */
const DECODER_KEYS = ['x_forwarded_for_client_cert_decoders', 'x_forwarded_for_client_cert_header_decoders'] as const;

/** Every listener of every file. */
export function readListeners(top: Section, dev: boolean): Listener[] {
  return top.blocks('listener', 1).flatMap((block) => readListener(block, dev) ?? []);
}

function readListener({ labels: [type = ''], section }: Block, dev: boolean): Listener | undefined {
  const listener = type === 'tcp' ? readTcp(section, dev) : type === 'unix' ? readUnix(section) : undefined;
  if (type !== 'tcp' && type !== 'unix') {
    section.complainHere(`${shown(type)} is no kind of listener; it must be ${listed(['tcp', 'unix'])}`);
    return undefined;
  }
  section.done();
  return listener;
}

function readTcp(section: Section, dev: boolean): Listener | undefined {
  const limits = readLimits(section);
  const text = section.text('address') ?? '127.0.0.1:8200';
  const address = parseAddress(text);
  const disabled = section.bool('tls_disable');
  const tls = readTls(section, disabled === true);
  section.ignore({ cluster_address: 'nodes do not talk to each other', purpose: 'every listener serves the whole API' });
  if (!address) section.complain('address', `is ${shown(text)}; it must be host:port, [address]:port or :port`);
  if (!address) return undefined;
  const secure = tls !== undefined || disabled === true || dev || isLoopbackHost(address.host);
  if (!secure && !section.has('tls_cert_file') && !section.has('tls_key_file')) {
    section.complainHere(`${text} can be reached from other machines, so it needs tls_cert_file and tls_key_file, or tls_disable = true`);
  }
  return { ...limits, type: 'tcp', ...address, ...(tls ? { tls } : {}) };
}

function readUnix(section: Section): Listener | undefined {
  const limits = readLimits(section);
  const path = section.text('address');
  const mode = section.text('socket_mode');
  const uid = idOf(section, 'socket_user');
  const gid = idOf(section, 'socket_group');
  section.ignore({ tls_disable: 'a socket of this machine has no TLS' });
  if (limits.forwardedCertificate)
    section.complain('x_forwarded_for_client_cert_header', 'needs a listener "tcp": who connects to a socket has no address');
  if (mode !== undefined && !/^0?[0-7]{3}$/.test(mode)) section.complain('socket_mode', 'must be octal permissions such as "0660"');
  if (path === undefined) {
    section.complainHere('address is required: the path of the socket');
    return undefined;
  }
  if (Buffer.byteLength(path) > 107) section.complain('address', 'is longer than a socket path may be: 107 bytes');
  return {
    ...limits,
    type: 'unix',
    path,
    ...(mode === undefined ? {} : { mode: Number.parseInt(mode, 8) }),
    ...(uid === undefined ? {} : { uid }),
    ...(gid === undefined ? {} : { gid }),
  };
}

function idOf(section: Section, key: string): number | undefined {
  const text = section.text(key);
  if (text === undefined) return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  section.complain(key, 'must be a number; names are not looked up');
  return undefined;
}

function readLimits(section: Section): ListenerLimits {
  const maxBodyBytes = section.bytes('max_request_size', { min: 1 });
  const maxJsonStrings = section.integer('max_request_json_strings', { min: 1 });
  const maxJsonValues = section.integer('max_request_json_values', { min: 1 });
  const maxJsonDepth = section.integer('max_request_json_depth', { min: 1, max: 10_000 });
  const maxBodyMemory = section.bytes('max_body_memory', { min: 16 * 1024 * 1024 });
  const headersTimeout = section.duration('http_read_header_timeout', { min: 1 });
  const requestTimeout = section.duration('http_read_timeout', { min: 1 });
  const keepAliveTimeout = section.duration('http_idle_timeout', { min: 1 });
  const trustedProxies = readNetworks(section, 'x_forwarded_for_authorized_addrs');
  const forwardedCertificate = readForwardedCertificate(section, trustedProxies);
  const headers = readHeaders(section);
  const ui = section.bool('ui');
  const tokenless = readTokenless(section);
  const openMetrics = section.blocks('telemetry', 0).map((block) => {
    const open = block.section.bool('unauthenticated_metrics_access') ?? false;
    block.section.ignore({ disallow_metrics: 'metrics are shown to those whose policy allows it' });
    block.section.done();
    return open;
  });
  section.ignore({
    max_request_duration: 'the core ends every request that takes too long by itself',
    http_write_timeout: 'an answer is sent for as long as its caller reads it',
    max_request_json_memory: 'max_body_memory bounds all requests together, and strings, values and nesting bound each',
    max_json_depth: 'it is called max_request_json_depth here',
    disable_request_limiter: 'there is no limiter',
    disable_replication_status_endpoints: 'there is no replication',
    x_forwarded_for_hop_skips: FORWARDED,
    x_forwarded_for_reject_not_present: FORWARDED,
    x_forwarded_for_reject_not_authorized: FORWARDED,
    agent_api: 'this server is no agent',
    role: 'this server is no agent',
    profiling: 'node has its own profiler',
    inflight_requests_logging: 'requests are logged by audit devices',
    redact_addresses: 'nothing is redacted',
    redact_cluster_name: 'nothing is redacted',
    redact_version: 'nothing is redacted',
  });
  section.refuse({
    proxy_protocol_behavior: 'is not offered: let the proxy send X-Forwarded-For, and name it in x_forwarded_for_authorized_addrs',
    proxy_protocol_authorized_addrs: 'is not offered: let the proxy send X-Forwarded-For, and name it in x_forwarded_for_authorized_addrs',
    tls_acme_domains: 'is not offered: let an ACME client write the files, and send SIGHUP',
  });
  return {
    ...NO_LIMITS,
    trustedProxies,
    headers,
    openMetrics: openMetrics.includes(true),
    ...(tokenless.length > 0 ? { tokenless } : {}),
    ...(ui === undefined ? {} : { ui }),
    ...(forwardedCertificate ? { forwardedCertificate } : {}),
    ...(maxBodyBytes === undefined ? {} : { maxBodyBytes }),
    ...(maxJsonStrings === undefined ? {} : { maxJsonStrings }),
    ...(maxJsonValues === undefined ? {} : { maxJsonValues }),
    ...(maxBodyMemory === undefined ? {} : { maxBodyMemory }),
    ...(maxJsonDepth === undefined ? {} : { maxJsonDepth }),
    ...(headersTimeout === undefined ? {} : { headersTimeout }),
    ...(requestTimeout === undefined ? {} : { requestTimeout }),
    ...(keepAliveTimeout === undefined ? {} : { keepAliveTimeout }),
  };
}

const TOKENLESS: Readonly<Record<string, TokenlessCeremony>> = {
  disable_unauthed_rekey_endpoints: 'rekey',
  disable_unauthed_generate_root_endpoints: 'generate-root',
};

/** The older routes of key ceremonies are off, unless a listener says that they are not disabled. */
function readTokenless(section: Section): TokenlessCeremony[] {
  return Object.entries(TOKENLESS).flatMap(([key, ceremony]) => (section.bool(key) === false ? [ceremony] : []));
}

function readTls(section: Section, disabled: boolean): TlsChoice | undefined {
  const certFile = section.text('tls_cert_file');
  const keyFile = section.text('tls_key_file');
  const clientCaFile = section.text('tls_client_ca_file');
  const requireClientCert = section.bool('tls_require_and_verify_client_cert') ?? false;
  const withoutClientCerts = section.bool('tls_disable_client_certs') ?? false;
  const minVersion = readVersion(section, 'tls_min_version') ?? 'TLSv1.2';
  const maxVersion = readVersion(section, 'tls_max_version') ?? 'TLSv1.3';
  const ciphers = readCiphers(section);
  section.ignore({ tls_prefer_server_cipher_suites: 'both sides agree on the best they have' });
  if (minVersion > maxVersion) section.complain('tls_max_version', 'is less than tls_min_version');
  if (requireClientCert && clientCaFile === undefined) section.complain('tls_require_and_verify_client_cert', 'needs tls_client_ca_file');
  if (!requireClientCert && clientCaFile !== undefined) section.notice('tls_client_ca_file', UNVERIFIED);
  if (requireClientCert && withoutClientCerts)
    section.complain('tls_disable_client_certs', 'contradicts tls_require_and_verify_client_cert');
  if (disabled) {
    if (requireClientCert) section.complain('tls_require_and_verify_client_cert', 'contradicts tls_disable');
    return undefined;
  }
  if (certFile === undefined && keyFile === undefined) {
    if (requireClientCert) section.complainHere('client certificates need tls_cert_file and tls_key_file');
    return undefined;
  }
  if (certFile === undefined || keyFile === undefined) {
    section.complainHere(`${certFile === undefined ? 'tls_cert_file' : 'tls_key_file'} is missing: certificate and key come together`);
    return undefined;
  }
  return {
    certFile,
    keyFile,
    clientCerts: requireClientCert ? 'verified' : withoutClientCerts ? 'off' : 'requested',
    minVersion,
    maxVersion,
    ...(requireClientCert && clientCaFile !== undefined ? { clientCaFile } : {}),
    ...(ciphers === undefined ? {} : { ciphers }),
  };
}

function readVersion(section: Section, key: string): TlsVersion | undefined {
  const text = section.oneOf(key, ['tls12', 'tls13']);
  return text === undefined ? undefined : VERSIONS[text];
}

/** Go's names of cipher suites in OpenSSL's variant: `TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256` is `ECDHE-RSA-AES128-GCM-SHA256`. */
function readCiphers(section: Section): string | undefined {
  const names = section.strings('tls_cipher_suites');
  if (!names || names.length === 0) return undefined;
  const known = new Set(getCiphers().map((name) => name.toUpperCase()));
  return names
    .map((name) => {
      const written = name.includes('_WITH_')
        ? name
            .replace(/^TLS_/, '')
            .replace('_WITH_', '_')
            .replace(/AES_(\d+)/, 'AES$1')
            .replace(/POLY1305_SHA256$/, 'POLY1305')
            .replace('_CBC_SHA', '_SHA')
            .replaceAll('_', '-')
        : name;
      if (!known.has(written.toUpperCase())) section.complain('tls_cipher_suites', `holds ${shown(name)}, which is not known`);
      return written;
    })
    .join(':');
}

function readNetworks(section: Section, key: string): readonly string[] {
  const networks = section.strings(key) ?? [];
  for (const network of networks) {
    const [address = '', bits, ...rest] = network.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    try {
      if (isIP(address) === 0 || rest.length > 0 || (bits !== undefined && !/^\d{1,3}$/.test(bits))) throw new RangeError('no network');
      new BlockList().addSubnet(address, bits === undefined ? (family === 'ipv4' ? 32 : 128) : Number(bits), family);
    } catch {
      section.complain(key, `holds ${shown(network)}, which is neither an address nor a network such as "10.0.0.0/8"`);
    }
  }
  return networks;
}

/** A certificate is public, so a header that anybody may send would log anybody in: it needs the list of proxies. */
function readForwardedCertificate(section: Section, trustedProxies: readonly string[]): ForwardedCertificateOptions | undefined {
  const header = section.text('x_forwarded_for_client_cert_header');
  const decoders = DECODER_KEYS.flatMap((key) => {
    const names = section.strings(key) ?? [];
    if (names.length > 0 && header === undefined) section.complain(key, 'needs x_forwarded_for_client_cert_header');
    return names.flatMap((name): CertificateDecoder[] => {
      const known = CERTIFICATE_DECODERS.find((one) => one === name.toUpperCase());
      if (known === undefined) section.complain(key, `holds ${shown(name)}; a decoder is ${listed(CERTIFICATE_DECODERS)}`);
      return known === undefined ? [] : [known];
    });
  });
  if (DECODER_KEYS.every((key) => section.has(key)))
    section.complain(DECODER_KEYS[1], `means the same as ${DECODER_KEYS[0]}; set one of them`);
  if (header === undefined) return undefined;
  if (!HEADER_NAME.test(header)) section.complain('x_forwarded_for_client_cert_header', `is ${shown(header)}, which is no header's name`);
  if (trustedProxies.length === 0) {
    section.complain(
      'x_forwarded_for_client_cert_header',
      'needs x_forwarded_for_authorized_addrs: without the addresses of the proxies, anybody could send the certificate of somebody else',
    );
  }
  return { header, decoders };
}

function readHeaders(section: Section): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  for (const block of section.blocks('custom_response_headers', 0)) {
    for (const [name, value] of Object.entries(block.section.headerMap('default'))) {
      if (!HEADER_NAME.test(name)) block.section.complain('default', `holds ${shown(name)}, which is no header's name`);
      else if (/^(?:x-vault-|x-strongroom-|content-length$|transfer-encoding$|connection$)/i.test(name))
        block.section.complain('default', `holds ${shown(name)}, which the server sets itself`);
      else if (/[^\t\x20-\x7e\x80-\xff]/.test(value))
        block.section.complain('default', `gives ${shown(name)} a value that HTTP cannot carry`);
      else headers[name] = value;
    }
    block.section.done();
  }
  return headers;
}
