import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, test } from '@jest/globals';
import type { Core } from '@strongroom/core';
import { checkedCore, type Difference, type RecordedCall, recordedCalls } from '@strongroom/engine-testkit';
import { describeWithRabbitmq, startRabbitmq, type RabbitmqServer } from '@strongroom/lab';
import { memoryStorage } from '@strongroom/storage-sdk';
import { rabbitmqEngine } from '../../src/index.ts';

const calls = JSON.parse(readFileSync(new URL('./rabbitmq-calls.json', import.meta.url), 'utf8')) as RecordedCall[];

const why = "a caller's mistake is a 400 that says what is wrong";
const shown = 'the connection can be read, without its secrets';
const outside = 'the answer names RabbitMQ and what it refused';
const differences: Readonly<Record<number, Difference>> = {
  2: { why: shown, status: 404, errors: [] },
  11: { why, status: 400, errors: [/RabbitMQ is not configured yet: write config\/connection first/] },
  12: {
    why,
    status: 400,
    errors: [/failed to validate the connection: RabbitMQ answers 401 Unauthorized to username "root" and password/],
  },
  13: { why: outside, status: 500, errors: [/failed to validate the connection: RabbitMQ cannot be reached .*ECONNREFUSED/] },
  14: { why, status: 400, errors: ['unable to initialize username template: template: template:1: function "broken" not defined'] },
  16: { why: shown, status: 200 },
  20: { why, status: 400, errors: [/^failed to unmarshal vhosts: /] },
  21: { why, status: 400, errors: ['failed to unmarshal vhosts: must be a JSON object'] },
  22: { why, status: 400, errors: [/^failed to unmarshal vhost_topics: /] },
  33: { why: 'a ttl that cannot be reached is warned of', status: 200 },
  35: { why, status: 400, errors: [/cannot provide negative value '-1h'/] },
  46: {
    why: outside,
    status: 500,
    errors: [/RabbitMQ refused to set permissions on the virtual host "nope": status 400: vhost_or_user_not_found/],
  },
  48: {
    why: outside,
    status: 500,
    errors: [/RabbitMQ refused to set permissions on the virtual host "\/": status 400: invalid_regexp \( missing \)/],
  },
  49: { why, status: 400, errors: ['failed to unmarshal vhosts: configure of "/" must be text'] },
  50: { why, status: 400, errors: ['failed to unmarshal vhosts: "/" has "config", and may have configure, write, read'] },
  51: { why, status: 400, errors: [/field "vhosts": expected a string, got an object/] },
};

describeWithRabbitmq('the recorded calls of the secrets engine for RabbitMQ', () => {
  let server: RabbitmqServer;
  let core: Core;

  beforeAll(async () => {
    server = await startRabbitmq();
    core = await checkedCore({ storage: memoryStorage(), plugins: [rabbitmqEngine], devRootToken: 'root' });
  }, 60_000);
  afterAll(async () => {
    await core?.close();
    await server?.stop();
  });

  recordedCalls(
    { test },
    { calls, extraKeys: ['.warnings'], differences, core: () => core, values: () => ({ url: server.url, password: server.password }) },
  );
});
