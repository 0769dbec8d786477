// The modules below are the same in every model. Each draws an element and puts its children at the element's end.

// sin(a) / a of an angle in degrees, 1 at 0.
function sinc(a) = abs(a) < 1e-6 ? 1 : sin(a) / (a * PI / 180);
// The sum of the first n entries.
function before(list, n) = n <= 0 ? 0 : list[n - 1] + before(list, n - 1);
function turn_z(a) = [[cos(a), -sin(a), 0], [sin(a), cos(a), 0], [0, 0, 1]];
function turn_y(a) = [[cos(a), 0, sin(a)], [0, 1, 0], [-sin(a), 0, cos(a)]];
function pose(rotation, place) = [for (i = [0:2]) [rotation[i][0], rotation[i][1], rotation[i][2], place[i]]];

// The chord of an arc that begins at an angle to z, in the plane of the bend: [x, 0, z].
function chord(length, start, bend) =
  length * sinc(bend / 2) * [sin(start + bend / 2), 0, cos(start + bend / 2)];

// The end of the first n sub-arcs.
function arcs_end(n, bend, length, lengths, bends) = n <= 0 ? [0, 0, 0] :
  arcs_end(n - 1, bend, length, lengths, bends)
  + chord(length * lengths[n - 1], bend * before(bends, n - 1), bend * bends[n - 1]);

module section(bend, direction, length, radius, bend_max, lengths, bends, twist, colour) {
  n = len(lengths);
  // Rings [angle to z, position in the plane], the same number at every bend.
  rings = [for (j = [0:n - 1])
    let (steps = max(ceil(bends[j] * bend_max / ring_step), 2), start = bend * before(bends, j),
         place = arcs_end(j, bend, length, lengths, bends))
    for (i = [(j == 0 ? 0 : 1):steps])
      let (s = i / steps) [start + s * bend * bends[j], place + chord(s * length * lengths[j], start, s * bend * bends[j])]];
  color(colour) if (length > 0) rotate(direction) tube(rings, radius, direction);
  multmatrix(pose(turn_z(direction) * turn_y(bend) * turn_z(twist ? 0 : -direction),
                  turn_z(direction) * arcs_end(n, bend, length, lengths, bends)))
    children();
}

// A closed tube around rings that lie in the plane of x and z.
module tube(rings, radius, phase) {
  n = len(rings);
  points = [for (ring = rings) for (k = [0:sides - 1])
    let (a = 360 * k / sides - phase) ring[1] + turn_y(ring[0]) * [radius * cos(a), radius * sin(a), 0]];
  around = [for (i = [0:n - 2]) for (k = [0:sides - 1])
    let (a = i * sides + k, b = i * sides + (k + 1) % sides) each [[a, b + sides, b], [a, a + sides, b + sides]]];
  ends = [[for (k = [0:sides - 1]) k], [for (k = [0:sides - 1]) n * sides - 1 - k]];
  polyhedron(points, concat(ends, around), convexity = 10);
}

module rod(end, radius) {
  if (radius > 0) color(steel) hull() {
    sphere(radius, $fn = sides);
    translate(end) sphere(radius, $fn = sides);
  }
}

module link(end, rotation, radius) {
  rod(end, radius);
  multmatrix(pose(rotation, end)) children();
}

module revolute(axis, angle, radius) {
  if (radius > 0) color(dark) multmatrix(pose(along(axis), [0, 0, 0]))
    cylinder(h = 2.2 * radius, r = radius, center = true, $fn = sides);
  rotate(angle, axis) children();
}

module prismatic(axis, stroke, radius) {
  rod(stroke * axis, radius);
  translate(stroke * axis) children();
}

// The far end swings about the axis and keeps its direction.
module parallelogram(end, axis, angle, radius) {
  way = cos(angle) * end + sin(angle) * cross(axis, end) + (1 - cos(angle)) * (axis * end) * axis;
  rod(way, radius);
  translate(way) children();
}

// A rotation whose z axis lies along a unit vector.
function along(z) =
  let (side = abs(z[0]) < 0.7 ? [1, 0, 0] : [0, 1, 0], x = cross(side, z) / norm(cross(side, z)), y = cross(z, x))
  [for (i = [0:2]) [x[i], y[i], z[i]]];

// A line through points.
module line(points, radius) {
  color("#D55E00") for (k = [1:1:len(points) - 1]) hull() {
    translate(points[k - 1]) sphere(radius, $fn = 12);
    translate(points[k]) sphere(radius, $fn = 12);
  }
}

// The axes of a frame: x red, y green, z blue.
module frame(size) {
  for (k = [0:2]) color(["#D55E00", "#009E73", "#0072B2"][k])
    multmatrix(pose(along([for (i = [0:2]) i == k ? 1 : 0]), [0, 0, 0])) cylinder(h = size, r = size / 20, $fn = 12);
  children();
}

// Put a tool here: it stands in the frame of the tip.
module tip() {}
