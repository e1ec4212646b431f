import { Body, Controller, HttpCode, Post, UnauthorizedException } from '@nestjs/common';
import { JwtService } from '@nestjs/jwt';
import { InjectRepository } from '@nestjs/typeorm';
import { compare } from 'bcrypt';
import { IsEmail, IsString } from 'class-validator';
import { Repository } from 'typeorm';
import { User } from './user.entity.js';

class LoginDto {
  @IsEmail()
  email!: string;

  @IsString()
  password!: string;
}

@Controller('api/auth')
export class AuthController {
  constructor(
    @InjectRepository(User) private readonly users: Repository<User>,
    private readonly jwtService: JwtService,
  ) {}

  @Post('login')
  @HttpCode(200)
  async login(@Body() { email, password }: LoginDto): Promise<object> {
    const user = await this.users.findOne({
      where: { email },
      select: { id: true, email: true, username: true, role: true, password: true },
    });
    if (!user || !(await compare(password, user.password))) throw new UnauthorizedException('Invalid credentials');
    const { password: _, ...visible } = user;
    const token = await this.jwtService.signAsync({ sub: String(user.id), email, roles: [user.role] });
    return { success: true, message: 'Login successful', data: { user: visible, token } };
  }
}
