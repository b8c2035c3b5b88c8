import { readFileSync } from 'node:fs';
import { readSettings, staticSeal } from '@strongroom/seal-sdk';
import type { SealHealthSettings } from '@strongroom/core';
import { placeText } from './complaints.ts';
import type { SealChoice } from './configuration.ts';
import { OFFERED_SEALS } from './offered-seals.ts';
import { listed, shown, type Block, type Section } from './section.ts';

/** Enabled ones, and disabled ones. */
const MOST = 3;
const TYPE_VARIABLES = ['STRONGROOM_SEAL_TYPE', 'BAO_SEAL_TYPE', 'VAULT_SEAL_TYPE'];
const NOT_OFFERED = ['kmip', 'ocikms', 'alicloudkms'];

type Environment = Readonly<Record<string, string | undefined>>;

/** The seals of the configuration, without Shamir's. What a type of somebody else has in its block is checked once its package is loaded. */
export function readSeals(top: Section, env: Environment): SealChoice[] {
  const blocks = top.blocks('seal', 1);
  const foreign = top.has('plugin');
  const choices = blocks.flatMap((block) => {
    const type = block.labels[0] ?? '';
    const read = readBlock(block, type);
    if (type === 'shamir' || !isKnown(block.section, type, foreign)) return [];
    return [{ ...read, env, envWins: blocks.filter(({ labels }) => labels[0] === type).length === 1 }];
  });
  const named = typeOfEnvironment(top, choices, blocks, env);
  const all = named === undefined ? choices : [...choices, named];
  checkTogether(all, blocks);
  for (const choice of all.filter(({ type }) => type === staticSeal.name)) checkStatic(choice, blocks, top);
  return all;
}

function readBlock({ section, place }: Block, type: string): Omit<SealChoice, 'envWins' | 'env'> {
  section.ignore({ purpose: 'every seal wraps the same key' });
  const name = section.text('name');
  const priority = section.integer('priority', { min: 1, max: 1_000 });
  const disabled = section.bool('disabled') ?? false;
  const health = readHealth(section);
  if (name !== undefined && !/^[a-z0-9][\w.-]{0,63}$/i.test(name)) section.complain('name', 'must be a short name such as "east"');
  const block = type === 'shamir' ? {} : section.rest();
  section.done();
  return {
    ...{ type, block, disabled, at: placeText(place) },
    ...(name === undefined ? {} : { name }),
    ...(priority === undefined ? {} : { priority }),
    ...(health ? { health } : {}),
  };
}

function readHealth(section: Section): SealHealthSettings | undefined {
  const keys = ['enabled', 'timeout', 'interval', 'interval_unhealthy'].map((key) => `health_check_${key}`);
  const found = keys.some((key) => section.has(key));
  const enabled = section.bool('health_check_enabled') ?? true;
  const seconds = (key: string, otherwise: number): number => (section.duration(key, { min: 1 }) ?? otherwise) * 1_000;
  const [timeout, interval] = [seconds('health_check_timeout', 60), seconds('health_check_interval', 600)];
  const unhealthyInterval = seconds('health_check_interval_unhealthy', 60);
  return found ? { enabled, timeout, interval, unhealthyInterval } : undefined;
}

function isKnown(section: Section, type: string, foreign: boolean): boolean {
  const ours = ['static', ...OFFERED_SEALS.map((offer) => offer.type)];
  if (ours.includes(type)) return true;
  if (NOT_OFFERED.includes(type)) section.complainHere(`this seal is not offered; there are ${listed([...ours, 'shamir'])}`);
  else if (foreign) return true;
  else
    section.complainHere(
      `${shown(type)} is no seal; it must be ${listed([...ours, 'shamir'])}, or that of a package that a plugin block names`,
    );
  return false;
}

/** The variable alone may name the seal, whose settings then come from the environment. It must not contradict the file. */
function typeOfEnvironment(
  top: Section,
  choices: readonly SealChoice[],
  blocks: readonly Block[],
  env: Environment,
): SealChoice | undefined {
  const variable = TYPE_VARIABLES.find((name) => env[name]);
  const type = variable === undefined ? undefined : env[variable];
  if (variable === undefined || type === undefined) return undefined;
  const enabled = choices.filter(({ disabled }) => !disabled).map((choice) => choice.type);
  if (enabled.includes(type) || (type === 'shamir' && enabled.length === 0)) return undefined;
  const section = blocks[0]?.section ?? top;
  if (enabled.length > 0) {
    section.complainHere(`the environment variable ${variable} says ${shown(type)}, and the configuration enables ${listed(enabled)}`);
    return undefined;
  }
  return isKnown(section, type, top.has('plugin')) ? { type, block: {}, disabled: false, at: variable, env, envWins: true } : undefined;
}

function checkTogether(choices: readonly SealChoice[], blocks: readonly Block[]): void {
  const last = blocks.at(-1)?.section;
  const enabled = choices.filter(({ disabled }) => !disabled);
  if (enabled.length > MOST) last?.complainHere(`there are ${enabled.length} enabled seals: at most ${MOST} can be`);
  if (choices.length - enabled.length > MOST) last?.complainHere(`there are too many disabled seals: at most ${MOST} can be`);
  const names = enabled.map(({ type, name }) => name ?? type);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) last?.complainHere(`two enabled seals are called ${shown(twice)}: give each a name of its own, name = "…"`);
}

/** Complaints never show what was found. */
function checkStatic(choice: SealChoice, blocks: readonly Block[], top: Section): void {
  const section = blocks.find(({ place }) => placeText(place) === choice.at)?.section ?? top;
  const { complaints, notices, values } = readSettings(staticSeal.settings, { ...choice, readFile: readFileSync });
  for (const { key, text } of complaints) {
    if (key === undefined) section.complainHere(text);
    else section.complain(key, text);
  }
  for (const { key = '', text } of notices) section.notice(key, text);
  if (complaints.length + notices.length > 0) return;
  for (const text of staticSeal.check?.(values()) ?? []) section.complainHere(text);
}
