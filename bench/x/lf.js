import Fastify from 'fastify';
import Database from 'better-sqlite3';
const db = new Database(process.env.BENCH_DATABASE);
const st = db.prepare('select * from products where id=?');
const app = Fastify();
app.get('/api/products/:id', (req, rep) => {
  const r = st.get(Number(req.params.id));
  rep
    .header('content-type', 'application/json; charset=utf-8')
    .send(
      JSON.stringify({
        success: true,
        message: 'Product found',
        data: { ...r, active: !!r.active },
        timestamp: new Date().toISOString(),
      }),
    );
});
await app.listen({ port: 0 });
process.send({ port: app.server.address().port });
