/** Adds to a variant what varies with the caller: the parts that a resource declares. */
import { userOf } from '../../http/principal.js';
import type { OperationName } from '../declare/operations.js';
import type { Deleted } from '../query/parameters.js';
import { isOwn, ownerPrecondition } from '../rows/owner.js';
import { pathValues } from '../rows/path-parameters.js';
import { conditionOfWhere } from '../rows/where-condition.js';
import {
  type WritePrecondition,
  and,
  compare,
  isEverything,
  or,
  type Condition,
  type Relation,
} from '../sql/condition.js';
import type { Call } from '../store/call.js';
import type { Plan } from './plan.js';
import type { PartName } from './resource.js';
import type { CallerView, Variant } from './variant.js';

/** What one part adds. */
interface Addition {
  readonly conditions?: readonly Condition[];
  readonly isScoped?: boolean;
  readonly preconditions?: readonly WritePrecondition[];
  readonly fixed?: CallerView['fixed'];
}

interface Part {
  /** Whether it belongs to the endpoint: records in relations of other resources have no path. */
  readonly isOfEndpoint: boolean;
  add(plan: Plan, call: Call, operation: OperationName, variant: Variant): Addition | Promise<Addition>;
}

const PARTS: Readonly<Record<PartName, Part>> = {
  path: {
    isOfEndpoint: true,
    add({ schema, pathParameters }, { request }) {
      const fixed = pathValues(schema.name, pathParameters, request);
      return { fixed, conditions: [...fixed].map(([field, value]) => compare(field, 'eq', value)) };
    },
  },
  scope: {
    isOfEndpoint: false,
    async add({ scope, metadata, database }, { request }, operation) {
      const condition = conditionOfWhere(await scope?.({ user: userOf(request), operation }), metadata, database);
      return { conditions: [condition], isScoped: !isEverything(condition) };
    },
  },
  owner: {
    isOfEndpoint: false,
    add({ owner }, { request }, _, { isOwnerBound }) {
      if (!owner || !isOwnerBound) return {};
      const preconditions = [ownerPrecondition(owner, request)];
      return { preconditions, conditions: owner.reads ? [isOwn(owner, request)] : [] };
    },
  },
  // A path such as `/api/shops/7/products` leads to no record where the caller does not see shop 7.
  parents: {
    isOfEndpoint: true,
    async add(plan, call) {
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
 * The view of the caller of an operation.
 *
 * @throws 404 where the path has a parameter that is none; what the scope throws
 */
export function viewOf(
  plan: Plan,
  call: Call,
  operation: OperationName,
  deleted: Deleted = 'without',
): CallerView | Promise<CallerView> {
  const variant = plan.variantFor(call.request);
  const view = variant.views[deleted];
  return plan.parts.length === 0 ? view : withParts(plan.parts, view, [plan, call, operation, variant]);
}

async function withParts(
  parts: readonly PartName[],
  view: CallerView,
  context: Parameters<Part['add']>,
): Promise<CallerView> {
  const additions: Addition[] = [];
  for (const name of parts) additions.push(await PARTS[name].add(...context));
  return {
    ...view,
    visible: and(...additions.flatMap(({ conditions = [] }) => conditions), view.visible),
    isScoped: additions.some(({ isScoped }) => isScoped),
    preconditions: additions.flatMap(({ preconditions = [] }) => preconditions),
    fixed: additions.find(({ fixed }) => fixed)?.fixed ?? view.fixed,
  };
}

/** What the caller may see of a resource's records in relations of other resources. Evaluated once for a call. */
export async function relatedVisible(plan: Plan, call: Call): Promise<Condition> {
  const variant = plan.variantFor(call.request);
  const known = call.visible.get(plan);
  if (known) return known;
  const parts = plan.parts.filter((name) => !PARTS[name].isOfEndpoint);
  const { visible } = await withParts(parts, variant.views.without, [plan, call, 'findAll', variant]);
  call.visible.set(plan, visible);
  return visible;
}

/** What the caller may see of the records that a relation refers to, through any of their resources. */
export async function visibleThrough(plan: Plan, call: Call, relation: Relation): Promise<Condition> {
  const conditions = await Promise.all(plan.referenced(relation).map((each) => relatedVisible(each, call)));
  return or(...conditions);
}
