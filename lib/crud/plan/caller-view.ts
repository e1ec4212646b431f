/** Begins the task of an operation: adds to a variant what varies with the caller, the parts that a resource declares. */
import { NotFoundException } from '@nestjs/common';
import { guardOf } from '../../entities/entity-guard.js';
import { callerOf, userOf } from '../../http/principal.js';
import { AuthenticationRequired } from '../../http/refusal.js';
import type { Field } from '../../entities/entity-schema.js';
import type { HttpRequest } from '../../http/request-facts.js';
import type { Deleted } from '../query/parameters.js';
import { isOwn, ownerPrecondition } from '../rows/owner.js';
import { conditionOfWhere } from '../rows/where-condition.js';
import { and, compare, isEverything, or, keyIs } from '../sql/condition.js';
import type { Condition, Relation, WritePrecondition } from '../sql/condition.js';
import type { Call } from '../store/call.js';
import type { Plan } from './plan.js';
import type { PartName } from './resource.js';
import type { CallerView, Variant } from './variant.js';

export interface Task<T extends object = object> {
  readonly plan: Plan<T>;
  readonly call: Call;
  readonly operation: string;
  readonly view: CallerView;
}

interface Addition {
  readonly conditions?: readonly Condition[];
  readonly isScoped?: boolean;
  readonly preconditions?: readonly WritePrecondition[];
  readonly fixed?: CallerView['fixed'];
}

interface Part {
  /** Whether it belongs to the endpoint: records in relations of other resources have no path. */
  readonly isOfEndpoint: boolean;
  add(task: Task, variant: Variant): Addition | Promise<Addition>;
}

const PARTS: Readonly<Record<PartName, Part>> = {
  path: {
    isOfEndpoint: true,
    add({ plan: { schema, pathParameters }, call: { request } }) {
      const fixed = pathValues(schema.name, pathParameters, request);
      return { fixed, conditions: [...fixed].map(([field, value]) => compare(field, 'eq', value)) };
    },
  },
  scope: {
    isOfEndpoint: false,
    async add({ plan: { scope, metadata, database }, call, operation }) {
      const where = await scope?.({ user: userOf(call.request), operation });
      const condition = conditionOfWhere(where, metadata, database);
      return { conditions: [condition], isScoped: !isEverything(condition) };
    },
  },
  owner: {
    isOfEndpoint: false,
    add({ plan: { owner }, call: { request } }, { isOwnerBound }) {
      if (!owner || !isOwnerBound) return {};
      const preconditions = [ownerPrecondition(owner, request)];
      return { preconditions, conditions: owner.reads ? [isOwn(owner, request)] : [] };
    },
  },
  // Who is dismissed while the request is handled does not undo it.
  caller: {
    isOfEndpoint: true,
    add({ plan: { schema, options }, call: { request } }) {
      const caller = callerOf(request);
      const id = caller && schema.key.readText(String(caller.id));
      if (!id || !('value' in id)) return {};
      const standing = Object.entries(guardOf(options.entity)?.standing(caller.roles[0]) ?? {}).flatMap(
        ([name, value]) =>
          schema.fields.filter((field) => field.name === name).map((field) => compare(field, 'eq', value)),
      );
      const condition = or({ kind: 'unless', part: keyIs(schema.key, id.value) }, and(...standing));
      return { preconditions: [{ condition, refuse: () => new AuthenticationRequired(true) }] };
    },
  },
  // A path such as `/api/shops/7/products` leads to no record where the caller does not see shop 7.
  parents: {
    isOfEndpoint: true,
    async add({ plan, call }) {
      const parents: Condition[] = [];
      for (const { reference: relation } of plan.pathParameters.values()) {
        if (!relation) continue;
        const part = await visibleThrough(plan, call, relation);
        if (!isEverything(part)) parents.push({ kind: 'related', relation, part });
      }
      return { conditions: parents };
    },
  },
};

/**
 * Promises nothing where a resource declares no parts.
 * @throws 404 where the path has a parameter that is none; what the scope throws
 */
export function beginTask<T extends object>(
  plan: Plan<T>,
  call: Call,
  operation: string,
  deleted: Deleted = 'without',
): Task<T> | Promise<Task<T>> {
  const variant = plan.variantFor(call.request);
  const task = { plan, call, operation, view: variant.views[deleted] };
  return plan.parts.length === 0 ? task : withParts(plan.parts, task, variant);
}

async function withParts<T extends object>(parts: readonly PartName[], task: Task<T>, variant: Variant) {
  const additions: Addition[] = [];
  for (const name of parts) additions.push(await PARTS[name].add(task, variant));
  const view = {
    ...task.view,
    visible: and(...additions.flatMap(({ conditions = [] }) => conditions), task.view.visible),
    isScoped: additions.some(({ isScoped }) => isScoped),
    preconditions: additions.flatMap(({ preconditions = [] }) => preconditions),
    fixed: additions.find(({ fixed }) => fixed)?.fixed ?? task.view.fixed,
  };
  return { ...task, view };
}

/** The condition for the records that the caller sees through relations of other resources. Evaluated once for a call. */
export async function relatedVisible(plan: Plan, call: Call): Promise<Condition> {
  const variant = plan.variantFor(call.request);
  const known = call.visible.get(plan);
  if (known) return known;
  const parts = plan.parts.filter((name) => !PARTS[name].isOfEndpoint);
  const { view } = await withParts(parts, { plan, call, operation: 'findAll', view: variant.views.without }, variant);
  call.visible.set(plan, view.visible);
  return view.visible;
}

/** The condition for the records of a relation that the caller sees through any of their resources. */
export async function visibleThrough(plan: Plan, call: Call, relation: Relation): Promise<Condition> {
  const conditions = await Promise.all(plan.referenced(relation).map((each) => relatedVisible(each, call)));
  return or(...conditions);
}

/** The value of each field that an endpoint such as `/api/shops/:shopId/products` names. @throws 404 for a value that is none for its column */
function pathValues(name: string, parameters: ReadonlyMap<string, Field>, request: HttpRequest | undefined) {
  const values = new Map<Field, unknown>();
  for (const [parameter, field] of parameters) {
    const given = request?.params?.[parameter];
    if (given === undefined) {
      const advice = `run them by runAs(user, work, { path: { ${parameter}: … } })`;
      throw new TypeError(`${name} is served below :${parameter}: its operations need a value for it; ${advice}`);
    }
    const reading = typeof given === 'string' ? field.type.readText(given) : field.type.read(given);
    if (!('value' in reading)) throw new NotFoundException(`No ${name} exists at this path`);
    values.set(field, reading.value);
  }
  return values;
}
